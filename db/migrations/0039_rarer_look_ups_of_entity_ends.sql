-- Looks up the last session and the highest score of a user or course only if the changes that are being folded can move them: one of a
-- session of the last known minute or later, one with the highest known score or more. Without changes (an erasure) it always does.
CREATE OR REPLACE FUNCTION "write_entity_totals"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added entity_totals[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg((integration_id, kind, value, sessions, '-infinity', -1)::entity_totals) INTO added
      FROM (SELECT integration_id, kind, value, sum(sessions) AS sessions FROM new_rows GROUP BY integration_id, kind, value) a;
  ELSE
    SELECT array_agg((integration_id, kind, value, sessions, '-infinity', -1)::entity_totals) INTO added
      FROM (SELECT integration_id, kind, value, sum(sessions) AS sessions
              FROM (SELECT integration_id, kind, value, sessions, true AS is_new FROM new_rows
                    UNION ALL
                    SELECT integration_id, kind, value, -sessions, false FROM old_rows) r
             GROUP BY integration_id, kind, value HAVING bool_or(is_new)) a;
  END IF;
  INSERT INTO entity_totals AS t (integration_id, kind, value, sessions, last_seen_at, max_bot_score)
  SELECT integration_id, kind, value, sessions, last_seen_at, max_bot_score
    FROM (SELECT c.integration_id, c.kind, c.value, c.sessions, known,
                 CASE WHEN c.last_minute < date_trunc('minute', known.last_seen_at, 'UTC') THEN known.last_seen_at
                      ELSE coalesce(greatest(p.last_seen_at, CASE c.kind
                             WHEN 'user' THEN (SELECT max(s.created_at) FROM sessions s WHERE s.integration_id = c.integration_id AND s.user_id = c.value)
                             ELSE (SELECT max(s.created_at) FROM sessions s WHERE s.integration_id = c.integration_id AND s.course_id = c.value)
                           END), '-infinity')
                 END AS last_seen_at,
                 CASE WHEN c.kind <> 'user' THEN -1
                      WHEN c.max_score_micros < round(known.max_bot_score * 1e6) THEN known.max_bot_score
                      ELSE coalesce(greatest(p.max_bot_score,
                             (SELECT max(s.bot_score) FROM sessions s WHERE s.integration_id = c.integration_id AND s.user_id = c.value)), -1)
                 END AS max_bot_score
            FROM (SELECT integration_id, kind, value, sum(sessions) AS sessions,
                         coalesce(max(minute), 'infinity') AS last_minute, coalesce(max(score_micros), 'infinity') AS max_score_micros
                    FROM (SELECT integration_id, kind, value, sessions, null::timestamptz AS minute, null::float8 AS score_micros FROM unnest(added)
                          UNION ALL
                          SELECT d.integration_id, e.kind, e.value, null, coalesce(d.minute, 'infinity'), coalesce(d.score_micros, -1)
                            FROM session_deltas d CROSS JOIN LATERAL (VALUES ('user', d.user_id), ('course', d.course_id)) e(kind, value)) r
                   GROUP BY integration_id, kind, value HAVING count(sessions) > 0) c
            LEFT JOIN entity_totals known ON known.integration_id = c.integration_id AND known.kind = c.kind AND known.value = c.value
            LEFT JOIN pruned_ends p ON p.integration_id = c.integration_id AND p.kind = c.kind AND p.value = c.value) changed
   WHERE sessions <> 0 OR (last_seen_at, max_bot_score) IS DISTINCT FROM ((known).last_seen_at, (known).max_bot_score)
   ORDER BY integration_id, kind, value
  ON CONFLICT (integration_id, kind, value) DO UPDATE
    SET sessions = t.sessions + excluded.sessions, last_seen_at = excluded.last_seen_at, max_bot_score = excluded.max_bot_score;
  RETURN NULL;
END $$;
