CREATE TABLE "review_draws" (
	"integration_id" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"population" integer NOT NULL,
	"drawn_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "review_draws_integration_id_day_pk" PRIMARY KEY("integration_id","day")
);
--> statement-breakpoint
CREATE TABLE "review_sample" (
	"integration_id" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"position" integer NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "review_sample_integration_id_day_position_pk" PRIMARY KEY("integration_id","day","position")
);
--> statement-breakpoint
CREATE TABLE "saved_views" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"page" text NOT NULL,
	"name" text NOT NULL,
	"query" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"created_by" text,
	CONSTRAINT "saved_views_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "session_verdicts" (
	"integration_id" text COLLATE "C" NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"entry" bigint GENERATED ALWAYS AS IDENTITY (sequence name "session_verdicts_entry_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"decided_at" timestamp(3) with time zone NOT NULL,
	"label" smallint,
	"confidence" text,
	"reasons" text[] DEFAULT '{}' NOT NULL,
	"notes" text,
	"is_undo" boolean DEFAULT false NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text COLLATE "C",
	"actor_name" text,
	"bot_score" double precision,
	"rule_set_version" text,
	"medium_at" smallint,
	"bot_at" smallint,
	CONSTRAINT "session_verdicts_integration_id_session_id_entry_pk" PRIMARY KEY("integration_id","session_id","entry")
);
--> statement-breakpoint
CREATE TABLE "staff_invitations" (
	"token_hash" "bytea" PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"staff_id" text COLLATE "C",
	"name" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"created_by" text,
	"expires_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_answers" (
	"integration_id" text COLLATE "C" NOT NULL,
	"delivery_id" text COLLATE "C" NOT NULL,
	"resend" smallint NOT NULL,
	"attempt" smallint NOT NULL,
	"received_at" timestamp(3) with time zone NOT NULL,
	"headers" jsonb NOT NULL,
	"body" "bytea" NOT NULL,
	"is_cut" boolean NOT NULL,
	CONSTRAINT "webhook_answers_integration_id_delivery_id_resend_attempt_pk" PRIMARY KEY("integration_id","delivery_id","resend","attempt")
);
--> statement-breakpoint
ALTER TABLE "integrations" ADD COLUMN "review_sample_size" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "anomalies" ADD COLUMN "acknowledged_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "anomalies" ADD COLUMN "acknowledged_by" text;--> statement-breakpoint
ALTER TABLE "anomalies" ADD COLUMN "resolved_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "anomalies" ADD COLUMN "resolved_by" text;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "error_code" text;--> statement-breakpoint
ALTER TABLE "staff_invitations" ADD CONSTRAINT "staff_invitations_staff_id_staff_id_fk" FOREIGN KEY ("staff_id") REFERENCES "public"."staff"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "review_sample_session" ON "review_sample" USING btree ("integration_id","session_id");--> statement-breakpoint
CREATE INDEX "session_verdicts_recent" ON "session_verdicts" USING btree ("integration_id","decided_at","session_id");--> statement-breakpoint
CREATE INDEX "webhook_answers_received" ON "webhook_answers" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "sessions_review" ON "sessions" USING btree ("integration_id","created_at","score_bin","id") WHERE label is null and score_bin >= 20;--> statement-breakpoint
CREATE INDEX "anomalies_unresolved" ON "anomalies" USING btree ("integration_id","detected_at","id") WHERE resolved_at is null;--> statement-breakpoint
-- The labels that exist begin the history. Nobody kept the thresholds of their time, nor whether a person or a key set them:
-- only accounts have an address as their name.
INSERT INTO "session_verdicts" ("integration_id", "session_id", "decided_at", "label", "confidence", "notes", "actor_kind", "actor_name", "bot_score")
SELECT integration_id, id, labeled_at, label, label_confidence, label_notes,
       CASE WHEN labeled_by IS NULL THEN 'Operator' WHEN position('@' in labeled_by) > 0 THEN 'Staff' ELSE 'ApiKey' END, labeled_by, bot_score
  FROM sessions WHERE label IS NOT NULL AND labeled_at IS NOT NULL ORDER BY labeled_at;
