CREATE FUNCTION event_position(transaction xid8) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS 'select transaction::text::bigint + 0';--> statement-breakpoint
CREATE TABLE "operator_notices" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"subscription_id" text COLLATE "C" NOT NULL,
	"payload" text NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "operator_notices_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
ALTER TABLE "domain_events" ADD COLUMN "ended" jsonb;--> statement-breakpoint
ALTER TABLE "domain_events" ADD COLUMN "position" bigint DEFAULT event_position(pg_current_xact_id()) NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD COLUMN "told_state" text;--> statement-breakpoint
CREATE INDEX "domain_events_position" ON "domain_events" USING btree ("integration_id","position","id");