-- Adds what has changed, instead of adding up to 103 bins again for each user and course that a fold names. A row that gets another
-- value (an erasure) takes its sessions along: the total under the old value is for who renames it to move.
CREATE OR REPLACE FUNCTION "write_entity_totals"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changes entity_totals[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg((integration_id, kind, value, sessions, '-infinity', -1)::entity_totals ORDER BY integration_id, kind, value) INTO changes
      FROM (SELECT integration_id, kind, value, sum(sessions) AS sessions FROM new_rows GROUP BY integration_id, kind, value) c;
  ELSE
    SELECT array_agg((integration_id, kind, value, sessions, '-infinity', -1)::entity_totals ORDER BY integration_id, kind, value) INTO changes
      FROM (SELECT integration_id, kind, value, sum(sessions) AS sessions
              FROM (SELECT integration_id, kind, value, sessions, true AS is_new FROM new_rows
                    UNION ALL
                    SELECT integration_id, kind, value, -sessions, false FROM old_rows) r
             GROUP BY integration_id, kind, value HAVING bool_or(is_new)) c;
  END IF;
  INSERT INTO entity_totals AS t (integration_id, kind, value, sessions, last_seen_at, max_bot_score)
  SELECT c.integration_id, c.kind, c.value, c.sessions,
         coalesce(greatest(CASE c.kind
                             WHEN 'user' THEN (SELECT max(s.created_at) FROM sessions s WHERE s.integration_id = c.integration_id AND s.user_id = c.value)
                             ELSE (SELECT max(s.created_at) FROM sessions s WHERE s.integration_id = c.integration_id AND s.course_id = c.value)
                           END, p.last_seen_at), '-infinity'),
         coalesce(CASE c.kind
                    WHEN 'user' THEN greatest((SELECT max(s.bot_score) FROM sessions s WHERE s.integration_id = c.integration_id AND s.user_id = c.value), p.max_bot_score)
                  END, -1)
    FROM unnest(changes) c
    LEFT JOIN pruned_ends p ON p.integration_id = c.integration_id AND p.kind = c.kind AND p.value = c.value
  ON CONFLICT (integration_id, kind, value) DO UPDATE
    SET sessions = t.sessions + excluded.sessions, last_seen_at = excluded.last_seen_at, max_bot_score = excluded.max_bot_score
    WHERE excluded.sessions <> 0 OR (t.last_seen_at, t.max_bot_score) IS DISTINCT FROM (excluded.last_seen_at, excluded.max_bot_score);
  RETURN NULL;
END $$;
--> statement-breakpoint
DROP TRIGGER "entity_rollups_changed" ON "entity_rollups";
--> statement-breakpoint
CREATE TRIGGER "entity_rollups_changed" AFTER UPDATE ON "entity_rollups" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION write_entity_totals();
