CREATE TABLE "api_keys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"integration_id" text COLLATE "C" NOT NULL,
	"name" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"first4" text NOT NULL,
	"last4" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp(3) with time zone,
	CONSTRAINT "api_keys_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "integrations" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"plan" text NOT NULL,
	"status" text DEFAULT 'Active' NOT NULL,
	"allowed_origins" text[] DEFAULT '{}' NOT NULL,
	"medium_at" smallint DEFAULT 40 NOT NULL,
	"bot_at" smallint DEFAULT 70 NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "meta" (
	"region" text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "rate_windows" (
	"bucket" text NOT NULL,
	"window_start" timestamp(3) with time zone NOT NULL,
	"requests" integer NOT NULL,
	CONSTRAINT "rate_windows_bucket_window_start_pk" PRIMARY KEY("bucket","window_start")
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE TABLE "session_events" (
	"integration_id" text COLLATE "C" NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"sequence" integer NOT NULL,
	"type" text NOT NULL,
	"timestamp" timestamp(3) with time zone NOT NULL,
	"url" text,
	"duration_ms" integer,
	"event_count" integer NOT NULL,
	"metadata" jsonb,
	CONSTRAINT "session_events_integration_id_session_id_sequence_pk" PRIMARY KEY("integration_id","session_id","sequence")
);
--> statement-breakpoint
CREATE TABLE "session_scores" (
	"integration_id" text COLLATE "C" NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"scored_at" timestamp(3) with time zone NOT NULL,
	"bot_score" double precision NOT NULL,
	"detection_flags" text[] NOT NULL,
	CONSTRAINT "session_scores_integration_id_session_id_scored_at_pk" PRIMARY KEY("integration_id","session_id","scored_at")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone,
	"closed_at" timestamp(3) with time zone,
	"status" text NOT NULL,
	"page_url" text NOT NULL,
	"origin" text NOT NULL,
	"user_agent" text NOT NULL,
	"user_agent_summary" text NOT NULL,
	"device_type" text NOT NULL,
	"browser" text NOT NULL,
	"country" text,
	"fingerprint" text COLLATE "C",
	"bot_score" double precision,
	"score_bin" smallint,
	"scored_at" timestamp(3) with time zone,
	"detection_flags" text[] DEFAULT '{}' NOT NULL,
	"label" smallint,
	"effective_bin" smallint GENERATED ALWAYS AS (CASE label WHEN 1 THEN 101 WHEN -1 THEN -1 ELSE score_bin END) STORED,
	"user_id" text COLLATE "C",
	"correlation_confidence" double precision,
	"course_id" text COLLATE "C",
	"event_count" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "sessions_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "domain_events" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"natural_key" text COLLATE "C" NOT NULL,
	"payload" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"skips" jsonb,
	CONSTRAINT "domain_events_integration_id_id_pk" PRIMARY KEY("integration_id","id"),
	CONSTRAINT "domain_events_once" UNIQUE("integration_id","type","natural_key")
);
--> statement-breakpoint
CREATE TABLE "webhook_attempts" (
	"integration_id" text COLLATE "C" NOT NULL,
	"delivery_id" text COLLATE "C" NOT NULL,
	"attempt" smallint NOT NULL,
	"started_at" timestamp(3) with time zone NOT NULL,
	"duration_ms" integer NOT NULL,
	"http_status" smallint,
	"failure_class" text,
	"address" text,
	CONSTRAINT "webhook_attempts_integration_id_delivery_id_attempt_pk" PRIMARY KEY("integration_id","delivery_id","attempt")
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"subscription_id" text COLLATE "C" NOT NULL,
	"event_id" text COLLATE "C" NOT NULL,
	"status" text DEFAULT 'Pending' NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp(3) with time zone,
	"lease" uuid,
	"failure_class" text,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp(3) with time zone,
	CONSTRAINT "webhook_deliveries_integration_id_id_pk" PRIMARY KEY("integration_id","id"),
	CONSTRAINT "webhook_deliveries_once" UNIQUE("integration_id","event_id","subscription_id")
) WITH (fillfactor = 70);
--> statement-breakpoint
CREATE TABLE "webhook_subscriptions" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"url" text NOT NULL,
	"event_type" text NOT NULL,
	"threshold" jsonb,
	"name" text NOT NULL,
	"enabled" boolean NOT NULL,
	"secret_sealed" "bytea" NOT NULL,
	"consecutive_failures" integer DEFAULT 0 NOT NULL,
	"disabled_reason" text,
	"disabled_failure_class" text,
	"last_delivery_at" timestamp(3) with time zone,
	"last_delivery_status" text,
	"nudged_at" timestamp(3) with time zone,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp(3) with time zone,
	CONSTRAINT "webhook_subscriptions_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_integration_id_integrations_id_fk" FOREIGN KEY ("integration_id") REFERENCES "public"."integrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_subscriptions" ADD CONSTRAINT "webhook_subscriptions_integration_id_integrations_id_fk" FOREIGN KEY ("integration_id") REFERENCES "public"."integrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_integration" ON "api_keys" USING btree ("integration_id","created_at");--> statement-breakpoint
CREATE INDEX "rate_windows_start" ON "rate_windows" USING btree ("window_start");--> statement-breakpoint
CREATE INDEX "sessions_recent" ON "sessions" USING btree ("integration_id","created_at","id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("integration_id","user_id","created_at","id");--> statement-breakpoint
CREATE INDEX "sessions_course" ON "sessions" USING btree ("integration_id","course_id","created_at","id");--> statement-breakpoint
CREATE INDEX "sessions_fingerprint" ON "sessions" USING btree ("integration_id","fingerprint","created_at","id");--> statement-breakpoint
CREATE INDEX "sessions_origin" ON "sessions" USING btree ("integration_id","origin","created_at","id");--> statement-breakpoint
CREATE INDEX "domain_events_created" ON "domain_events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("integration_id","subscription_id","attempts","next_attempt_at") WHERE status = 'Pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_sweep" ON "webhook_deliveries" USING btree ("next_attempt_at") WHERE status = 'Pending';