CREATE TABLE "alerts" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"severity" text NOT NULL,
	"message" text NOT NULL,
	"triggered_at" timestamp(3) with time zone NOT NULL,
	"url" text,
	CONSTRAINT "alerts_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "reports" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"name" text NOT NULL,
	"template_id" text COLLATE "C" NOT NULL,
	"format" text NOT NULL,
	"record_count" integer,
	"file_size" double precision,
	"completed_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone,
	"download_url" text NOT NULL,
	CONSTRAINT "reports_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "writing_scores" (
	"integration_id" text COLLATE "C" NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"scored_at" timestamp(3) with time zone NOT NULL,
	"ai_score" double precision NOT NULL,
	"user_id" text COLLATE "C",
	"document_id" text COLLATE "C",
	"word_count" integer,
	CONSTRAINT "writing_scores_integration_id_session_id_scored_at_pk" PRIMARY KEY("integration_id","session_id","scored_at")
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "failed_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "failure_reason" text;