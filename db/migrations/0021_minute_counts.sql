CREATE OR REPLACE FUNCTION "append_session_deltas"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO session_deltas (integration_id, sign, hour, minute, bin, origin, device_type, browser, is_active, label, user_id, course_id, fingerprint, events, score_micros, confidence_micros)
    SELECT integration_id, 1, date_trunc('hour', created_at, 'UTC'), date_trunc('minute', created_at, 'UTC'), coalesce(effective_bin, -2), origin, device_type, browser, (status = 'Active')::int, label,
           user_id, course_id, fingerprint, event_count, round(bot_score * 1e6), round(correlation_confidence * 1e6)
      FROM new_rows;
  ELSE
    INSERT INTO session_deltas (integration_id, sign, hour, minute, bin, origin, device_type, browser, is_active, label, user_id, course_id, fingerprint, events, score_micros, confidence_micros)
    SELECT s.integration_id, s.sign, date_trunc('hour', s.created_at, 'UTC'), date_trunc('minute', s.created_at, 'UTC'), coalesce(s.effective_bin, -2), s.origin, s.device_type, s.browser, (s.status = 'Active')::int, s.label,
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
-- Changes that leave session_deltas are counted by minute. A trigger does that and not the fold, because in a rolling upgrade
-- processes of older versions fold too. Minutes that no window reaches any more are not counted.
CREATE FUNCTION "count_folded_minutes"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Most users and courses have one bin in a minute. Their tallies need no sums.
  INSERT INTO minute_counts AS c (integration_id, scope, value, minute, sessions, scored, score_micros)
  WITH cells AS (
    SELECT integration_id, scope, value, minute, bin, sum(sign) AS n,
           coalesce(sum(sign) FILTER (WHERE score_micros IS NOT NULL), 0) AS scored, coalesce(sum(sign * score_micros::bigint), 0) AS score_micros
      FROM old_rows CROSS JOIN LATERAL (VALUES ('integration', ''), ('course', course_id), ('user', user_id), ('origin', origin)) s(scope, value)
     WHERE value IS NOT NULL AND minute >= now() - interval '38 days'
     GROUP BY integration_id, scope, value, minute, bin),
  changed AS (
    SELECT *, count(*) OVER (PARTITION BY integration_id, scope, value, minute) AS bins
      FROM cells WHERE n <> 0 OR scored <> 0 OR score_micros <> 0)
  SELECT integration_id, scope, value, minute, array_fill(n::int, ARRAY[bin + 3]), scored, score_micros FROM changed WHERE bins = 1
   UNION ALL
  SELECT integration_id, scope, value, minute, (ARRAY[
         sum(n) FILTER (WHERE bin >= -2), sum(n) FILTER (WHERE bin >= -1), sum(n) FILTER (WHERE bin >= 0), sum(n) FILTER (WHERE bin >= 1),
         sum(n) FILTER (WHERE bin >= 2), sum(n) FILTER (WHERE bin >= 3), sum(n) FILTER (WHERE bin >= 4), sum(n) FILTER (WHERE bin >= 5),
         sum(n) FILTER (WHERE bin >= 6), sum(n) FILTER (WHERE bin >= 7), sum(n) FILTER (WHERE bin >= 8), sum(n) FILTER (WHERE bin >= 9),
         sum(n) FILTER (WHERE bin >= 10), sum(n) FILTER (WHERE bin >= 11), sum(n) FILTER (WHERE bin >= 12), sum(n) FILTER (WHERE bin >= 13),
         sum(n) FILTER (WHERE bin >= 14), sum(n) FILTER (WHERE bin >= 15), sum(n) FILTER (WHERE bin >= 16), sum(n) FILTER (WHERE bin >= 17),
         sum(n) FILTER (WHERE bin >= 18), sum(n) FILTER (WHERE bin >= 19), sum(n) FILTER (WHERE bin >= 20), sum(n) FILTER (WHERE bin >= 21),
         sum(n) FILTER (WHERE bin >= 22), sum(n) FILTER (WHERE bin >= 23), sum(n) FILTER (WHERE bin >= 24), sum(n) FILTER (WHERE bin >= 25),
         sum(n) FILTER (WHERE bin >= 26), sum(n) FILTER (WHERE bin >= 27), sum(n) FILTER (WHERE bin >= 28), sum(n) FILTER (WHERE bin >= 29),
         sum(n) FILTER (WHERE bin >= 30), sum(n) FILTER (WHERE bin >= 31), sum(n) FILTER (WHERE bin >= 32), sum(n) FILTER (WHERE bin >= 33),
         sum(n) FILTER (WHERE bin >= 34), sum(n) FILTER (WHERE bin >= 35), sum(n) FILTER (WHERE bin >= 36), sum(n) FILTER (WHERE bin >= 37),
         sum(n) FILTER (WHERE bin >= 38), sum(n) FILTER (WHERE bin >= 39), sum(n) FILTER (WHERE bin >= 40), sum(n) FILTER (WHERE bin >= 41),
         sum(n) FILTER (WHERE bin >= 42), sum(n) FILTER (WHERE bin >= 43), sum(n) FILTER (WHERE bin >= 44), sum(n) FILTER (WHERE bin >= 45),
         sum(n) FILTER (WHERE bin >= 46), sum(n) FILTER (WHERE bin >= 47), sum(n) FILTER (WHERE bin >= 48), sum(n) FILTER (WHERE bin >= 49),
         sum(n) FILTER (WHERE bin >= 50), sum(n) FILTER (WHERE bin >= 51), sum(n) FILTER (WHERE bin >= 52), sum(n) FILTER (WHERE bin >= 53),
         sum(n) FILTER (WHERE bin >= 54), sum(n) FILTER (WHERE bin >= 55), sum(n) FILTER (WHERE bin >= 56), sum(n) FILTER (WHERE bin >= 57),
         sum(n) FILTER (WHERE bin >= 58), sum(n) FILTER (WHERE bin >= 59), sum(n) FILTER (WHERE bin >= 60), sum(n) FILTER (WHERE bin >= 61),
         sum(n) FILTER (WHERE bin >= 62), sum(n) FILTER (WHERE bin >= 63), sum(n) FILTER (WHERE bin >= 64), sum(n) FILTER (WHERE bin >= 65),
         sum(n) FILTER (WHERE bin >= 66), sum(n) FILTER (WHERE bin >= 67), sum(n) FILTER (WHERE bin >= 68), sum(n) FILTER (WHERE bin >= 69),
         sum(n) FILTER (WHERE bin >= 70), sum(n) FILTER (WHERE bin >= 71), sum(n) FILTER (WHERE bin >= 72), sum(n) FILTER (WHERE bin >= 73),
         sum(n) FILTER (WHERE bin >= 74), sum(n) FILTER (WHERE bin >= 75), sum(n) FILTER (WHERE bin >= 76), sum(n) FILTER (WHERE bin >= 77),
         sum(n) FILTER (WHERE bin >= 78), sum(n) FILTER (WHERE bin >= 79), sum(n) FILTER (WHERE bin >= 80), sum(n) FILTER (WHERE bin >= 81),
         sum(n) FILTER (WHERE bin >= 82), sum(n) FILTER (WHERE bin >= 83), sum(n) FILTER (WHERE bin >= 84), sum(n) FILTER (WHERE bin >= 85),
         sum(n) FILTER (WHERE bin >= 86), sum(n) FILTER (WHERE bin >= 87), sum(n) FILTER (WHERE bin >= 88), sum(n) FILTER (WHERE bin >= 89),
         sum(n) FILTER (WHERE bin >= 90), sum(n) FILTER (WHERE bin >= 91), sum(n) FILTER (WHERE bin >= 92), sum(n) FILTER (WHERE bin >= 93),
         sum(n) FILTER (WHERE bin >= 94), sum(n) FILTER (WHERE bin >= 95), sum(n) FILTER (WHERE bin >= 96), sum(n) FILTER (WHERE bin >= 97),
         sum(n) FILTER (WHERE bin >= 98), sum(n) FILTER (WHERE bin >= 99), sum(n) FILTER (WHERE bin >= 100), sum(n) FILTER (WHERE bin >= 101)
         ])[:max(bin) + 3]::int[], sum(scored), sum(score_micros)
    FROM changed WHERE bins > 1 GROUP BY integration_id, scope, value, minute
   ORDER BY 1, 2, 3, 4
      ON CONFLICT (integration_id, scope, value, minute) DO UPDATE
     SET sessions = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0) FROM unnest(c.sessions, excluded.sessions) t(a, b)),
         scored = c.scored + excluded.scored, score_micros = c.score_micros + excluded.score_micros;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "session_deltas_folded" AFTER DELETE ON "session_deltas" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_folded_minutes();
--> statement-breakpoint
-- The sessions that are there already are counted by a job, so that facts need not wait (server/domain/minute-counts.ts).
UPDATE integrations SET minutes_counted_to = date_trunc('minute', now(), 'UTC') - interval '38 days';
--> statement-breakpoint
CREATE FUNCTION "append_anomaly_count"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO incident_counts (integration_id, kind, scope, value, minute, type, severity, incidents)
  SELECT NEW.integration_id, 'Anomaly', scope, value, date_trunc('minute', NEW.detected_at, 'UTC'), NEW.type, NEW.severity, 1
    FROM (VALUES ('integration', ''), ('user', NEW.user_id)) s(scope, value)
   WHERE value IS NOT NULL AND NEW.detected_at >= now() - interval '38 days';
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "append_failed_delivery"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO incident_counts (integration_id, kind, scope, value, minute, type, severity, incidents)
  VALUES (NEW.integration_id, 'FailedDelivery', 'integration', '', date_trunc('minute', coalesce(NEW.finished_at, now()), 'UTC'), '', '', 1);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "anomalies_counted_by_minute" AFTER INSERT ON "anomalies" FOR EACH ROW EXECUTE FUNCTION append_anomaly_count();
--> statement-breakpoint
CREATE TRIGGER "deliveries_failed" AFTER UPDATE OF "status" ON "webhook_deliveries" FOR EACH ROW
  WHEN (OLD.status = 'Pending' AND NEW.status NOT IN ('Pending', 'Delivered') AND NOT NEW.is_test) EXECUTE FUNCTION append_failed_delivery();
--> statement-breakpoint
INSERT INTO incident_counts (integration_id, kind, scope, value, minute, type, severity, entry, incidents) OVERRIDING SYSTEM VALUE
SELECT integration_id, 'Anomaly', s.scope, s.value, date_trunc('minute', detected_at, 'UTC'), type, severity, 0, count(*)
  FROM anomalies CROSS JOIN LATERAL (VALUES ('integration', ''), ('user', user_id)) s(scope, value)
 WHERE s.value IS NOT NULL AND detected_at >= now() - interval '38 days'
 GROUP BY integration_id, s.scope, s.value, date_trunc('minute', detected_at, 'UTC'), type, severity
 UNION ALL
SELECT integration_id, 'FailedDelivery', 'integration', '', date_trunc('minute', finished_at, 'UTC'), '', '', 0, count(*)
  FROM webhook_deliveries WHERE status NOT IN ('Pending', 'Delivered') AND NOT is_test AND finished_at >= now() - interval '38 days'
 GROUP BY integration_id, date_trunc('minute', finished_at, 'UTC');
