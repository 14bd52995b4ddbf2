CREATE TABLE "alert_rules" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"name" text NOT NULL,
	"metric" text NOT NULL,
	"anomaly_type" text,
	"min_severity" text,
	"scope" text NOT NULL,
	"scope_value" text COLLATE "C" NOT NULL,
	"window_minutes" integer NOT NULL,
	"comparison" text NOT NULL,
	"value" double precision NOT NULL,
	"min_sessions" integer NOT NULL,
	"severity" text NOT NULL,
	"message" text NOT NULL,
	"cool_down_minutes" integer NOT NULL,
	"enabled" boolean NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"created_by" text,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text,
	"deleted_at" timestamp(3) with time zone,
	"judged_from" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"fired_ends" integer[] DEFAULT '{}' NOT NULL,
	"unsent" jsonb,
	CONSTRAINT "alert_rules_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "incident_counts" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"scope" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"minute" timestamp(3) with time zone NOT NULL,
	"type" text NOT NULL,
	"severity" text NOT NULL,
	"entry" bigint GENERATED ALWAYS AS IDENTITY (sequence name "incident_counts_entry_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"incidents" bigint NOT NULL,
	CONSTRAINT "incident_counts_pk" PRIMARY KEY("integration_id","kind","scope","value","minute","type","severity","entry")
);
--> statement-breakpoint
CREATE TABLE "minute_counts" (
	"integration_id" text COLLATE "C" NOT NULL,
	"scope" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"minute" timestamp(3) with time zone NOT NULL,
	"sessions" integer[] NOT NULL,
	"scored" bigint NOT NULL,
	"score_micros" bigint NOT NULL,
	CONSTRAINT "minute_counts_integration_id_scope_value_minute_pk" PRIMARY KEY("integration_id","scope","value","minute")
);
--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "rule_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "window_start" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "window_end" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "acknowledged_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "acknowledged_by" text;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "resolved_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "resolved_by" text;--> statement-breakpoint
ALTER TABLE "integrations" ADD COLUMN "minutes_counted_to" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "session_deltas" ADD COLUMN "minute" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "alert_rules" ADD CONSTRAINT "alert_rules_integration_id_integrations_id_fk" FOREIGN KEY ("integration_id") REFERENCES "public"."integrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "incident_counts_old" ON "incident_counts" USING btree ("integration_id","minute");--> statement-breakpoint
CREATE INDEX "incident_counts_unfolded" ON "incident_counts" USING btree ("entry") WHERE entry > 0;--> statement-breakpoint
CREATE INDEX "minute_counts_old" ON "minute_counts" USING btree ("integration_id","minute");--> statement-breakpoint
CREATE INDEX "alerts_rule" ON "alerts" USING btree ("integration_id","rule_id","triggered_at","id");--> statement-breakpoint
CREATE INDEX "alerts_unresolved" ON "alerts" USING btree ("integration_id","triggered_at","id") WHERE resolved_at is null;