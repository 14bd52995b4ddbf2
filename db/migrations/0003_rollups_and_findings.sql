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
CREATE TABLE "dimension_rollups" (
	"integration_id" text COLLATE "C" NOT NULL,
	"grain" text NOT NULL,
	"start" timestamp(3) with time zone NOT NULL,
	"dimension" text NOT NULL,
	"value" text NOT NULL,
	"bin" smallint NOT NULL,
	"sessions" bigint NOT NULL,
	CONSTRAINT "dimension_rollups_integration_id_grain_start_dimension_value_bin_pk" PRIMARY KEY("integration_id","grain","start","dimension","value","bin")
);
--> statement-breakpoint
CREATE TABLE "entity_others" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"others" bigint NOT NULL,
	CONSTRAINT "entity_others_integration_id_kind_value_pk" PRIMARY KEY("integration_id","kind","value")
);
--> statement-breakpoint
CREATE TABLE "entity_pairs" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"other" text COLLATE "C" NOT NULL,
	"sessions" bigint NOT NULL,
	CONSTRAINT "entity_pairs_integration_id_kind_value_other_pk" PRIMARY KEY("integration_id","kind","value","other")
);
--> statement-breakpoint
CREATE TABLE "entity_rollups" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"bin" smallint NOT NULL,
	"sessions" bigint NOT NULL,
	"scored" bigint NOT NULL,
	"score_micros" bigint NOT NULL,
	"confidence_micros" bigint NOT NULL,
	CONSTRAINT "entity_rollups_integration_id_kind_value_bin_pk" PRIMARY KEY("integration_id","kind","value","bin")
);
--> statement-breakpoint
CREATE TABLE "pruned_ends" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"first_seen_at" timestamp(3) with time zone NOT NULL,
	"last_seen_at" timestamp(3) with time zone NOT NULL,
	"max_bot_score" double precision,
	CONSTRAINT "pruned_ends_integration_id_kind_value_pk" PRIMARY KEY("integration_id","kind","value")
);
--> statement-breakpoint
CREATE TABLE "seen_hours" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"hour" timestamp(3) with time zone NOT NULL,
	"bin" smallint NOT NULL,
	"sessions" bigint NOT NULL,
	CONSTRAINT "seen_hours_integration_id_kind_value_hour_bin_pk" PRIMARY KEY("integration_id","kind","value","hour","bin")
);
--> statement-breakpoint
CREATE TABLE "seen_steps" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"grain" text NOT NULL,
	"start" timestamp(3) with time zone NOT NULL,
	"bin" smallint NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "seen_steps_integration_id_kind_grain_start_bin_pk" PRIMARY KEY("integration_id","kind","grain","start","bin")
);
--> statement-breakpoint
CREATE TABLE "session_deltas" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "session_deltas_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"sign" smallint NOT NULL,
	"hour" timestamp(3) with time zone NOT NULL,
	"bin" smallint NOT NULL,
	"origin" text NOT NULL,
	"device_type" text NOT NULL,
	"browser" text NOT NULL,
	"is_active" smallint NOT NULL,
	"label" smallint,
	"user_id" text COLLATE "C",
	"course_id" text COLLATE "C",
	"fingerprint" text COLLATE "C",
	"events" integer NOT NULL,
	"score_micros" integer,
	"confidence_micros" integer,
	CONSTRAINT "session_deltas_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "session_rollups" (
	"integration_id" text COLLATE "C" NOT NULL,
	"grain" text NOT NULL,
	"start" timestamp(3) with time zone NOT NULL,
	"bin" smallint NOT NULL,
	"sessions" bigint NOT NULL,
	"events" bigint NOT NULL,
	"active" bigint NOT NULL,
	"scored" bigint NOT NULL,
	"score_micros" bigint NOT NULL,
	"matched" bigint NOT NULL,
	"confidence_micros" bigint NOT NULL,
	"labeled_bot" bigint NOT NULL,
	"labeled_human" bigint NOT NULL,
	"deviceless" bigint NOT NULL,
	CONSTRAINT "session_rollups_integration_id_grain_start_bin_pk" PRIMARY KEY("integration_id","grain","start","bin")
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "failed_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "failure_reason" text;--> statement-breakpoint
CREATE INDEX "sessions_user_score" ON "sessions" USING btree ("integration_id","user_id","bot_score") WHERE user_id is not null;--> statement-breakpoint
CREATE FUNCTION "append_session_deltas"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO session_deltas (integration_id, sign, hour, bin, origin, device_type, browser, is_active, label, user_id, course_id, fingerprint, events, score_micros, confidence_micros)
    SELECT integration_id, 1, date_trunc('hour', created_at, 'UTC'), coalesce(effective_bin, -2), origin, device_type, browser, (status = 'Active')::int, label,
           user_id, course_id, fingerprint, event_count, round(bot_score * 1e6), round(correlation_confidence * 1e6)
      FROM new_rows;
  ELSE
    INSERT INTO session_deltas (integration_id, sign, hour, bin, origin, device_type, browser, is_active, label, user_id, course_id, fingerprint, events, score_micros, confidence_micros)
    SELECT s.integration_id, s.sign, date_trunc('hour', s.created_at, 'UTC'), coalesce(s.effective_bin, -2), s.origin, s.device_type, s.browser, (s.status = 'Active')::int, s.label,
           s.user_id, s.course_id, s.fingerprint, s.event_count, round(s.bot_score * 1e6), round(s.correlation_confidence * 1e6)
      FROM old_rows o JOIN new_rows n USING (integration_id, id)
      CROSS JOIN LATERAL (SELECT -1 AS sign, o.* UNION ALL SELECT 1, n.*) s
     WHERE (o.status, o.effective_bin, o.label, o.bot_score, o.user_id, o.correlation_confidence, o.event_count, o.created_at, o.origin, o.device_type, o.browser, o.fingerprint, o.course_id)
           IS DISTINCT FROM
           (n.status, n.effective_bin, n.label, n.bot_score, n.user_id, n.correlation_confidence, n.event_count, n.created_at, n.origin, n.device_type, n.browser, n.fingerprint, n.course_id);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "sessions_inserted" AFTER INSERT ON "sessions" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION append_session_deltas();
--> statement-breakpoint
CREATE TRIGGER "sessions_updated" AFTER UPDATE ON "sessions" REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION append_session_deltas();
--> statement-breakpoint
INSERT INTO session_deltas (integration_id, sign, hour, bin, origin, device_type, browser, is_active, label, user_id, course_id, fingerprint, events, score_micros, confidence_micros)
SELECT integration_id, 1, date_trunc('hour', created_at, 'UTC'), coalesce(effective_bin, -2), origin, device_type, browser, (status = 'Active')::int, label,
       user_id, course_id, fingerprint, event_count, round(bot_score * 1e6), round(correlation_confidence * 1e6)
  FROM sessions;
