CREATE TABLE "collected_sessions" (
	"key" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "collected_sessions_key_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"integration_id" text COLLATE "C" NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"site_id" text COLLATE "C" NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"day" date NOT NULL,
	"user_agent" text NOT NULL,
	"address_prefix" text,
	"address_hash" "bytea",
	"country" text,
	"due_at" timestamp(3) with time zone,
	"closed_at" timestamp(3) with time zone,
	"version" integer DEFAULT 0 NOT NULL,
	"progress" jsonb,
	"judged_at" timestamp(3) with time zone,
	CONSTRAINT "collected_sessions_session" UNIQUE("integration_id","session_id")
);
--> statement-breakpoint
CREATE TABLE "session_batches" (
	"day" date NOT NULL,
	"session_key" bigint NOT NULL,
	"document" bigint NOT NULL,
	"sequence" integer NOT NULL,
	"received_at" timestamp(3) with time zone NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "session_batches_day_session_key_document_sequence_pk" PRIMARY KEY("day","session_key","document","sequence")
) PARTITION BY RANGE ("day");
--> statement-breakpoint
-- What no partition of a day takes. Partitions of days are made and dropped by the collector.
CREATE TABLE "session_batches_default" PARTITION OF "session_batches" DEFAULT;
--> statement-breakpoint
CREATE TABLE "session_traces" (
	"day" date NOT NULL,
	"session_key" bigint NOT NULL,
	"batches" integer NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "session_traces_day_session_key_pk" PRIMARY KEY("day","session_key")
) PARTITION BY RANGE ("day");
--> statement-breakpoint
-- What no partition of a day takes. Partitions of days are made and dropped by the collector.
CREATE TABLE "session_traces_default" PARTITION OF "session_traces" DEFAULT;
--> statement-breakpoint
CREATE TABLE "sites" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"integration_id" text COLLATE "C" NOT NULL,
	"site_key" text COLLATE "C" NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp(3) with time zone,
	"first_batch_at" timestamp(3) with time zone,
	CONSTRAINT "sites_site_key_unique" UNIQUE("site_key")
);
--> statement-breakpoint
ALTER TABLE "integrations" ADD COLUMN "identity_secret" "bytea";--> statement-breakpoint
ALTER TABLE "integrations" ADD COLUMN "may_ignore_privacy_control" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "session_scores" ADD COLUMN "rule_set_version" text;--> statement-breakpoint
ALTER TABLE "session_scores" ADD COLUMN "evidence" jsonb;--> statement-breakpoint
CREATE INDEX "collected_sessions_due" ON "collected_sessions" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "collected_sessions_day" ON "collected_sessions" USING btree ("day");--> statement-breakpoint
CREATE INDEX "session_batches_received" ON "session_batches" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "sites_integration" ON "sites" USING btree ("integration_id","created_at");