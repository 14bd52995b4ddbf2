CREATE TABLE "fact_outbox" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"causes" text[] NOT NULL,
	"due_at" timestamp(3) with time zone DEFAULT now() + interval '1 second' NOT NULL,
	"tries" smallint DEFAULT 0 NOT NULL,
	CONSTRAINT "fact_outbox_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "finding_rules" (
	"integration_id" text COLLATE "C" NOT NULL,
	"rule" text NOT NULL,
	"is_enabled" boolean NOT NULL,
	CONSTRAINT "finding_rules_integration_id_rule_pk" PRIMARY KEY("integration_id","rule")
);
--> statement-breakpoint
ALTER TABLE "collected_sessions" ADD COLUMN "location" jsonb;--> statement-breakpoint
ALTER TABLE "session_scores" ADD COLUMN "segments" jsonb;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "location" jsonb;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "is_inferred" boolean;--> statement-breakpoint
CREATE INDEX "fact_outbox_due" ON "fact_outbox" USING btree ("due_at");