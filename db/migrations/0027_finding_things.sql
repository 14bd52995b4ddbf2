-- Text as people look for it: in lower case, and without accents.
CREATE FUNCTION "plain_text"("value" text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f]', '', 'g'))
$$;
--> statement-breakpoint
-- What a name is sorted by. Cut, because an entry of an index must not be long. It repeats the function above, because Postgres
-- builds indexes without our schema in its search path.
CREATE FUNCTION "sort_name"("value" text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT left(lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f]', '', 'g')), 100)
$$;
--> statement-breakpoint
-- The first twenty words of a text. White space and punctuation are between words.
CREATE FUNCTION "split_words"("value" text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT left(word, 64) COLLATE "C"), '{}')
    FROM (SELECT word FROM regexp_split_to_table(plain_text(value), '[\s!-/:-@\[-`{-~\u00a0-\u00bf\u2000-\u206f\u3000-\u303f]+') AS word
           WHERE word <> '' LIMIT 20) AS words
$$;
--> statement-breakpoint
CREATE TABLE "entity_totals" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"sessions" bigint NOT NULL,
	"last_seen_at" timestamp(3) with time zone NOT NULL,
	"max_bot_score" double precision NOT NULL,
	CONSTRAINT "entity_totals_integration_id_kind_value_pk" PRIMARY KEY("integration_id","kind","value")
);
--> statement-breakpoint
CREATE TABLE "search_words" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"word" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	CONSTRAINT "search_words_integration_id_kind_word_id_pk" PRIMARY KEY("integration_id","kind","word","id")
);
--> statement-breakpoint
CREATE INDEX "entity_totals_sessions" ON "entity_totals" USING btree ("integration_id","kind","sessions","value");--> statement-breakpoint
CREATE INDEX "entity_totals_seen" ON "entity_totals" USING btree ("integration_id","kind","last_seen_at","value");--> statement-breakpoint
CREATE INDEX "entity_totals_score" ON "entity_totals" USING btree ("integration_id","max_bot_score","value") WHERE kind = 'user';--> statement-breakpoint
CREATE UNIQUE INDEX "saved_views_name" ON "saved_views" USING btree ("integration_id","page","name");--> statement-breakpoint
CREATE INDEX "courses_name" ON "courses" USING btree ("integration_id",sort_name(name) collate "C","id");--> statement-breakpoint
CREATE INDEX "users_name" ON "users" USING btree ("integration_id",sort_name(name) collate "C","id");
--> statement-breakpoint
-- By row, like the counts of rows: most statements that may write there change no name.
CREATE FUNCTION "index_user_words"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM search_words
     WHERE integration_id = OLD.integration_id AND kind = 'user' AND word = ANY (split_words(concat_ws(' ', OLD.name, OLD.email)) COLLATE "C") AND id = OLD.id;
  END IF;
  INSERT INTO search_words (integration_id, kind, word, id)
  SELECT NEW.integration_id, 'user', word, NEW.id FROM unnest(split_words(concat_ws(' ', NEW.name, NEW.email))) AS word
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "users_indexed" AFTER INSERT ON "users" FOR EACH ROW EXECUTE FUNCTION index_user_words();
--> statement-breakpoint
CREATE TRIGGER "users_renamed" AFTER UPDATE ON "users" FOR EACH ROW
  WHEN (OLD.name IS DISTINCT FROM NEW.name OR OLD.email IS DISTINCT FROM NEW.email) EXECUTE FUNCTION index_user_words();
--> statement-breakpoint
-- Names and codes of courses never change.
CREATE FUNCTION "index_course_words"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_words (integration_id, kind, word, id)
  SELECT NEW.integration_id, 'course', word, NEW.id FROM unnest(split_words(concat_ws(' ', NEW.name, NEW.code))) AS word
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "courses_indexed" AFTER INSERT ON "courses" FOR EACH ROW EXECUTE FUNCTION index_course_words();
--> statement-breakpoint
INSERT INTO search_words (integration_id, kind, word, id)
SELECT integration_id, 'user', word, id FROM users CROSS JOIN LATERAL unnest(split_words(concat_ws(' ', name, email))) AS word
UNION ALL
SELECT integration_id, 'course', word, id FROM courses CROSS JOIN LATERAL unnest(split_words(concat_ws(' ', name, code))) AS word;
--> statement-breakpoint
-- Written again from what is stored, whatever has changed, so that an order never drifts from the counts.
CREATE FUNCTION "write_entity_totals"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO entity_totals AS t (integration_id, kind, value, sessions, last_seen_at, max_bot_score)
  SELECT c.integration_id, c.kind, c.value,
         (SELECT sum(e.sessions) FROM entity_rollups e WHERE e.integration_id = c.integration_id AND e.kind = c.kind AND e.value = c.value),
         coalesce(greatest(CASE c.kind
                             WHEN 'user' THEN (SELECT max(s.created_at) FROM sessions s WHERE s.integration_id = c.integration_id AND s.user_id = c.value)
                             ELSE (SELECT max(s.created_at) FROM sessions s WHERE s.integration_id = c.integration_id AND s.course_id = c.value)
                           END, p.last_seen_at), '-infinity'),
         coalesce(CASE c.kind
                    WHEN 'user' THEN greatest((SELECT max(s.bot_score) FROM sessions s WHERE s.integration_id = c.integration_id AND s.user_id = c.value), p.max_bot_score)
                  END, -1)
    FROM (SELECT DISTINCT integration_id, kind, value FROM new_rows ORDER BY integration_id, kind, value) c
    LEFT JOIN pruned_ends p ON p.integration_id = c.integration_id AND p.kind = c.kind AND p.value = c.value
  ON CONFLICT (integration_id, kind, value) DO UPDATE
    SET sessions = excluded.sessions, last_seen_at = excluded.last_seen_at, max_bot_score = excluded.max_bot_score
    WHERE (t.sessions, t.last_seen_at, t.max_bot_score) IS DISTINCT FROM (excluded.sessions, excluded.last_seen_at, excluded.max_bot_score);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "entity_rollups_added" AFTER INSERT ON "entity_rollups" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_entity_totals();
--> statement-breakpoint
CREATE TRIGGER "entity_rollups_changed" AFTER UPDATE ON "entity_rollups" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION write_entity_totals();
--> statement-breakpoint
-- Writes the totals of the users and courses that are there already.
UPDATE entity_rollups SET sessions = sessions WHERE (integration_id, kind, value, bin) IN (
  SELECT integration_id, kind, value, min(bin) FROM entity_rollups GROUP BY integration_id, kind, value);
