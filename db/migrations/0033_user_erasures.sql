CREATE TABLE "user_erasures" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"user_hash" "bytea",
	"refused_until" timestamp(3) with time zone NOT NULL,
	"user_id" text COLLATE "C",
	"known_user" jsonb,
	"pseudonym" text COLLATE "C",
	"are_counts_moved" boolean DEFAULT false NOT NULL,
	"position" jsonb NOT NULL,
	"counts" jsonb NOT NULL,
	"requested_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"woken_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp(3) with time zone,
	CONSTRAINT "user_erasures_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "user_erasures_running" ON "user_erasures" USING btree ("integration_id","user_id") WHERE user_id is not null;--> statement-breakpoint
CREATE INDEX "user_erasures_hash" ON "user_erasures" USING btree ("integration_id","user_hash") WHERE user_hash is not null;--> statement-breakpoint
CREATE INDEX "user_erasures_woken" ON "user_erasures" USING btree ("woken_at") WHERE completed_at is null;--> statement-breakpoint
CREATE INDEX "user_erasures_refused" ON "user_erasures" USING btree ("refused_until") WHERE user_hash is not null;
--> statement-breakpoint
-- While a user is erased, their sessions get a pseudonym batch by batch. The counts got it before, all at once. So changes of the
-- sessions that still name the user are counted under the pseudonym.
CREATE OR REPLACE FUNCTION "append_session_deltas"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO session_deltas (integration_id, sign, hour, minute, bin, origin, device_type, browser, is_active, label, user_id, course_id, fingerprint, events, score_micros, confidence_micros)
    SELECT n.integration_id, 1, date_trunc('hour', n.created_at, 'UTC'), date_trunc('minute', n.created_at, 'UTC'), coalesce(n.effective_bin, -2), n.origin, n.device_type, n.browser, (n.status = 'Active')::int, n.label,
           coalesce((SELECT e.pseudonym FROM user_erasures e WHERE e.integration_id = n.integration_id AND e.user_id = n.user_id AND e.are_counts_moved), n.user_id),
           n.course_id, n.fingerprint, n.event_count, round(n.bot_score * 1e6), round(n.correlation_confidence * 1e6)
      FROM new_rows n;
  ELSE
    INSERT INTO session_deltas (integration_id, sign, hour, minute, bin, origin, device_type, browser, is_active, label, user_id, course_id, fingerprint, events, score_micros, confidence_micros)
    SELECT s.integration_id, s.sign, date_trunc('hour', s.created_at, 'UTC'), date_trunc('minute', s.created_at, 'UTC'), coalesce(s.effective_bin, -2), s.origin, s.device_type, s.browser, (s.status = 'Active')::int, s.label,
           s.counted_user, s.course_id, s.fingerprint, s.event_count, round(s.bot_score * 1e6), round(s.correlation_confidence * 1e6)
      FROM old_rows o JOIN new_rows n USING (integration_id, id)
      CROSS JOIN LATERAL (
        SELECT coalesce((SELECT e.pseudonym FROM user_erasures e WHERE e.integration_id = o.integration_id AND e.user_id = o.user_id AND e.are_counts_moved), o.user_id) AS before,
               coalesce((SELECT e.pseudonym FROM user_erasures e WHERE e.integration_id = n.integration_id AND e.user_id = n.user_id AND e.are_counts_moved), n.user_id) AS after) counted
      CROSS JOIN LATERAL (SELECT -1 AS sign, counted.before AS counted_user, o.* UNION ALL SELECT 1, counted.after, n.*) s
     WHERE (o.status, o.effective_bin, o.label, o.bot_score, counted.before, o.correlation_confidence, o.event_count, o.created_at, o.origin, o.device_type, o.browser, o.fingerprint, o.course_id)
           IS DISTINCT FROM
           (n.status, n.effective_bin, n.label, n.bot_score, counted.after, n.correlation_confidence, n.event_count, n.created_at, n.origin, n.device_type, n.browser, n.fingerprint, n.course_id);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- The payload of an event about an erased user is gone, so whatever would send it again ends at once.
CREATE FUNCTION "end_erased_delivery"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM domain_events WHERE integration_id = NEW.integration_id AND id = NEW.event_id AND payload = '{"erased":true}') THEN
    NEW.status := 'PoisonAborted';
    NEW.finished_at := now();
    NEW.next_attempt_at := NULL;
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER "deliveries_restarted" BEFORE UPDATE OF "status" ON "webhook_deliveries" FOR EACH ROW
  WHEN (OLD.status <> 'Pending' AND NEW.status = 'Pending') EXECUTE FUNCTION end_erased_delivery();
