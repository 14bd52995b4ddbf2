ALTER TABLE "integrations" ADD COLUMN "minutes_recounted_to" timestamp(3) with time zone;--> statement-breakpoint
-- The same counts, but of a user only the sessions whose user is known reliably (RELIABLE_CONFIDENCE): an alert accuses the user.
CREATE OR REPLACE FUNCTION "count_folded_minutes"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Most users and courses have one bin in a minute. Their tallies need no sums.
  INSERT INTO minute_counts AS c (integration_id, scope, value, minute, sessions, scored, score_micros)
  WITH cells AS (
    SELECT integration_id, scope, value, minute, bin, sum(sign) AS n,
           coalesce(sum(sign) FILTER (WHERE score_micros IS NOT NULL), 0) AS scored, coalesce(sum(sign * score_micros::bigint), 0) AS score_micros
      FROM old_rows CROSS JOIN LATERAL (VALUES ('integration', ''), ('course', course_id), ('user', CASE WHEN confidence_micros >= 700000 THEN user_id END), ('origin', origin)) s(scope, value)
     WHERE value IS NOT NULL AND minute >= now() - interval '38 days'
     GROUP BY integration_id, scope, value, minute, bin),
  changed AS (
    SELECT *, count(*) OVER (PARTITION BY integration_id, scope, value, minute) AS bins
      FROM cells WHERE n <> 0 OR scored <> 0 OR score_micros <> 0)
  SELECT integration_id, scope, value, minute, array_fill(n::int, ARRAY[bin + 3]), scored, score_micros FROM changed WHERE bins = 1
   UNION ALL
  SELECT integration_id, scope, value, minute, (ARRAY[
         sum(n::int) FILTER (WHERE bin >= -2), sum(n::int) FILTER (WHERE bin >= -1), sum(n::int) FILTER (WHERE bin >= 0), sum(n::int) FILTER (WHERE bin >= 1),
         sum(n::int) FILTER (WHERE bin >= 2), sum(n::int) FILTER (WHERE bin >= 3), sum(n::int) FILTER (WHERE bin >= 4), sum(n::int) FILTER (WHERE bin >= 5),
         sum(n::int) FILTER (WHERE bin >= 6), sum(n::int) FILTER (WHERE bin >= 7), sum(n::int) FILTER (WHERE bin >= 8), sum(n::int) FILTER (WHERE bin >= 9),
         sum(n::int) FILTER (WHERE bin >= 10), sum(n::int) FILTER (WHERE bin >= 11), sum(n::int) FILTER (WHERE bin >= 12), sum(n::int) FILTER (WHERE bin >= 13),
         sum(n::int) FILTER (WHERE bin >= 14), sum(n::int) FILTER (WHERE bin >= 15), sum(n::int) FILTER (WHERE bin >= 16), sum(n::int) FILTER (WHERE bin >= 17),
         sum(n::int) FILTER (WHERE bin >= 18), sum(n::int) FILTER (WHERE bin >= 19), sum(n::int) FILTER (WHERE bin >= 20), sum(n::int) FILTER (WHERE bin >= 21),
         sum(n::int) FILTER (WHERE bin >= 22), sum(n::int) FILTER (WHERE bin >= 23), sum(n::int) FILTER (WHERE bin >= 24), sum(n::int) FILTER (WHERE bin >= 25),
         sum(n::int) FILTER (WHERE bin >= 26), sum(n::int) FILTER (WHERE bin >= 27), sum(n::int) FILTER (WHERE bin >= 28), sum(n::int) FILTER (WHERE bin >= 29),
         sum(n::int) FILTER (WHERE bin >= 30), sum(n::int) FILTER (WHERE bin >= 31), sum(n::int) FILTER (WHERE bin >= 32), sum(n::int) FILTER (WHERE bin >= 33),
         sum(n::int) FILTER (WHERE bin >= 34), sum(n::int) FILTER (WHERE bin >= 35), sum(n::int) FILTER (WHERE bin >= 36), sum(n::int) FILTER (WHERE bin >= 37),
         sum(n::int) FILTER (WHERE bin >= 38), sum(n::int) FILTER (WHERE bin >= 39), sum(n::int) FILTER (WHERE bin >= 40), sum(n::int) FILTER (WHERE bin >= 41),
         sum(n::int) FILTER (WHERE bin >= 42), sum(n::int) FILTER (WHERE bin >= 43), sum(n::int) FILTER (WHERE bin >= 44), sum(n::int) FILTER (WHERE bin >= 45),
         sum(n::int) FILTER (WHERE bin >= 46), sum(n::int) FILTER (WHERE bin >= 47), sum(n::int) FILTER (WHERE bin >= 48), sum(n::int) FILTER (WHERE bin >= 49),
         sum(n::int) FILTER (WHERE bin >= 50), sum(n::int) FILTER (WHERE bin >= 51), sum(n::int) FILTER (WHERE bin >= 52), sum(n::int) FILTER (WHERE bin >= 53),
         sum(n::int) FILTER (WHERE bin >= 54), sum(n::int) FILTER (WHERE bin >= 55), sum(n::int) FILTER (WHERE bin >= 56), sum(n::int) FILTER (WHERE bin >= 57),
         sum(n::int) FILTER (WHERE bin >= 58), sum(n::int) FILTER (WHERE bin >= 59), sum(n::int) FILTER (WHERE bin >= 60), sum(n::int) FILTER (WHERE bin >= 61),
         sum(n::int) FILTER (WHERE bin >= 62), sum(n::int) FILTER (WHERE bin >= 63), sum(n::int) FILTER (WHERE bin >= 64), sum(n::int) FILTER (WHERE bin >= 65),
         sum(n::int) FILTER (WHERE bin >= 66), sum(n::int) FILTER (WHERE bin >= 67), sum(n::int) FILTER (WHERE bin >= 68), sum(n::int) FILTER (WHERE bin >= 69),
         sum(n::int) FILTER (WHERE bin >= 70), sum(n::int) FILTER (WHERE bin >= 71), sum(n::int) FILTER (WHERE bin >= 72), sum(n::int) FILTER (WHERE bin >= 73),
         sum(n::int) FILTER (WHERE bin >= 74), sum(n::int) FILTER (WHERE bin >= 75), sum(n::int) FILTER (WHERE bin >= 76), sum(n::int) FILTER (WHERE bin >= 77),
         sum(n::int) FILTER (WHERE bin >= 78), sum(n::int) FILTER (WHERE bin >= 79), sum(n::int) FILTER (WHERE bin >= 80), sum(n::int) FILTER (WHERE bin >= 81),
         sum(n::int) FILTER (WHERE bin >= 82), sum(n::int) FILTER (WHERE bin >= 83), sum(n::int) FILTER (WHERE bin >= 84), sum(n::int) FILTER (WHERE bin >= 85),
         sum(n::int) FILTER (WHERE bin >= 86), sum(n::int) FILTER (WHERE bin >= 87), sum(n::int) FILTER (WHERE bin >= 88), sum(n::int) FILTER (WHERE bin >= 89),
         sum(n::int) FILTER (WHERE bin >= 90), sum(n::int) FILTER (WHERE bin >= 91), sum(n::int) FILTER (WHERE bin >= 92), sum(n::int) FILTER (WHERE bin >= 93),
         sum(n::int) FILTER (WHERE bin >= 94), sum(n::int) FILTER (WHERE bin >= 95), sum(n::int) FILTER (WHERE bin >= 96), sum(n::int) FILTER (WHERE bin >= 97),
         sum(n::int) FILTER (WHERE bin >= 98), sum(n::int) FILTER (WHERE bin >= 99), sum(n::int) FILTER (WHERE bin >= 100), sum(n::int) FILTER (WHERE bin >= 101)
         ])[:max(bin) + 3]::int[], sum(scored), sum(score_micros)
    FROM changed WHERE bins > 1 GROUP BY integration_id, scope, value, minute
   ORDER BY 1, 2, 3, 4
      ON CONFLICT (integration_id, scope, value, minute) DO UPDATE
     SET sessions = (ARRAY[
         coalesce(c.sessions[1], 0) + coalesce(excluded.sessions[1], 0), coalesce(c.sessions[2], 0) + coalesce(excluded.sessions[2], 0),
         coalesce(c.sessions[3], 0) + coalesce(excluded.sessions[3], 0), coalesce(c.sessions[4], 0) + coalesce(excluded.sessions[4], 0),
         coalesce(c.sessions[5], 0) + coalesce(excluded.sessions[5], 0), coalesce(c.sessions[6], 0) + coalesce(excluded.sessions[6], 0),
         coalesce(c.sessions[7], 0) + coalesce(excluded.sessions[7], 0), coalesce(c.sessions[8], 0) + coalesce(excluded.sessions[8], 0),
         coalesce(c.sessions[9], 0) + coalesce(excluded.sessions[9], 0), coalesce(c.sessions[10], 0) + coalesce(excluded.sessions[10], 0),
         coalesce(c.sessions[11], 0) + coalesce(excluded.sessions[11], 0), coalesce(c.sessions[12], 0) + coalesce(excluded.sessions[12], 0),
         coalesce(c.sessions[13], 0) + coalesce(excluded.sessions[13], 0), coalesce(c.sessions[14], 0) + coalesce(excluded.sessions[14], 0),
         coalesce(c.sessions[15], 0) + coalesce(excluded.sessions[15], 0), coalesce(c.sessions[16], 0) + coalesce(excluded.sessions[16], 0),
         coalesce(c.sessions[17], 0) + coalesce(excluded.sessions[17], 0), coalesce(c.sessions[18], 0) + coalesce(excluded.sessions[18], 0),
         coalesce(c.sessions[19], 0) + coalesce(excluded.sessions[19], 0), coalesce(c.sessions[20], 0) + coalesce(excluded.sessions[20], 0),
         coalesce(c.sessions[21], 0) + coalesce(excluded.sessions[21], 0), coalesce(c.sessions[22], 0) + coalesce(excluded.sessions[22], 0),
         coalesce(c.sessions[23], 0) + coalesce(excluded.sessions[23], 0), coalesce(c.sessions[24], 0) + coalesce(excluded.sessions[24], 0),
         coalesce(c.sessions[25], 0) + coalesce(excluded.sessions[25], 0), coalesce(c.sessions[26], 0) + coalesce(excluded.sessions[26], 0),
         coalesce(c.sessions[27], 0) + coalesce(excluded.sessions[27], 0), coalesce(c.sessions[28], 0) + coalesce(excluded.sessions[28], 0),
         coalesce(c.sessions[29], 0) + coalesce(excluded.sessions[29], 0), coalesce(c.sessions[30], 0) + coalesce(excluded.sessions[30], 0),
         coalesce(c.sessions[31], 0) + coalesce(excluded.sessions[31], 0), coalesce(c.sessions[32], 0) + coalesce(excluded.sessions[32], 0),
         coalesce(c.sessions[33], 0) + coalesce(excluded.sessions[33], 0), coalesce(c.sessions[34], 0) + coalesce(excluded.sessions[34], 0),
         coalesce(c.sessions[35], 0) + coalesce(excluded.sessions[35], 0), coalesce(c.sessions[36], 0) + coalesce(excluded.sessions[36], 0),
         coalesce(c.sessions[37], 0) + coalesce(excluded.sessions[37], 0), coalesce(c.sessions[38], 0) + coalesce(excluded.sessions[38], 0),
         coalesce(c.sessions[39], 0) + coalesce(excluded.sessions[39], 0), coalesce(c.sessions[40], 0) + coalesce(excluded.sessions[40], 0),
         coalesce(c.sessions[41], 0) + coalesce(excluded.sessions[41], 0), coalesce(c.sessions[42], 0) + coalesce(excluded.sessions[42], 0),
         coalesce(c.sessions[43], 0) + coalesce(excluded.sessions[43], 0), coalesce(c.sessions[44], 0) + coalesce(excluded.sessions[44], 0),
         coalesce(c.sessions[45], 0) + coalesce(excluded.sessions[45], 0), coalesce(c.sessions[46], 0) + coalesce(excluded.sessions[46], 0),
         coalesce(c.sessions[47], 0) + coalesce(excluded.sessions[47], 0), coalesce(c.sessions[48], 0) + coalesce(excluded.sessions[48], 0),
         coalesce(c.sessions[49], 0) + coalesce(excluded.sessions[49], 0), coalesce(c.sessions[50], 0) + coalesce(excluded.sessions[50], 0),
         coalesce(c.sessions[51], 0) + coalesce(excluded.sessions[51], 0), coalesce(c.sessions[52], 0) + coalesce(excluded.sessions[52], 0),
         coalesce(c.sessions[53], 0) + coalesce(excluded.sessions[53], 0), coalesce(c.sessions[54], 0) + coalesce(excluded.sessions[54], 0),
         coalesce(c.sessions[55], 0) + coalesce(excluded.sessions[55], 0), coalesce(c.sessions[56], 0) + coalesce(excluded.sessions[56], 0),
         coalesce(c.sessions[57], 0) + coalesce(excluded.sessions[57], 0), coalesce(c.sessions[58], 0) + coalesce(excluded.sessions[58], 0),
         coalesce(c.sessions[59], 0) + coalesce(excluded.sessions[59], 0), coalesce(c.sessions[60], 0) + coalesce(excluded.sessions[60], 0),
         coalesce(c.sessions[61], 0) + coalesce(excluded.sessions[61], 0), coalesce(c.sessions[62], 0) + coalesce(excluded.sessions[62], 0),
         coalesce(c.sessions[63], 0) + coalesce(excluded.sessions[63], 0), coalesce(c.sessions[64], 0) + coalesce(excluded.sessions[64], 0),
         coalesce(c.sessions[65], 0) + coalesce(excluded.sessions[65], 0), coalesce(c.sessions[66], 0) + coalesce(excluded.sessions[66], 0),
         coalesce(c.sessions[67], 0) + coalesce(excluded.sessions[67], 0), coalesce(c.sessions[68], 0) + coalesce(excluded.sessions[68], 0),
         coalesce(c.sessions[69], 0) + coalesce(excluded.sessions[69], 0), coalesce(c.sessions[70], 0) + coalesce(excluded.sessions[70], 0),
         coalesce(c.sessions[71], 0) + coalesce(excluded.sessions[71], 0), coalesce(c.sessions[72], 0) + coalesce(excluded.sessions[72], 0),
         coalesce(c.sessions[73], 0) + coalesce(excluded.sessions[73], 0), coalesce(c.sessions[74], 0) + coalesce(excluded.sessions[74], 0),
         coalesce(c.sessions[75], 0) + coalesce(excluded.sessions[75], 0), coalesce(c.sessions[76], 0) + coalesce(excluded.sessions[76], 0),
         coalesce(c.sessions[77], 0) + coalesce(excluded.sessions[77], 0), coalesce(c.sessions[78], 0) + coalesce(excluded.sessions[78], 0),
         coalesce(c.sessions[79], 0) + coalesce(excluded.sessions[79], 0), coalesce(c.sessions[80], 0) + coalesce(excluded.sessions[80], 0),
         coalesce(c.sessions[81], 0) + coalesce(excluded.sessions[81], 0), coalesce(c.sessions[82], 0) + coalesce(excluded.sessions[82], 0),
         coalesce(c.sessions[83], 0) + coalesce(excluded.sessions[83], 0), coalesce(c.sessions[84], 0) + coalesce(excluded.sessions[84], 0),
         coalesce(c.sessions[85], 0) + coalesce(excluded.sessions[85], 0), coalesce(c.sessions[86], 0) + coalesce(excluded.sessions[86], 0),
         coalesce(c.sessions[87], 0) + coalesce(excluded.sessions[87], 0), coalesce(c.sessions[88], 0) + coalesce(excluded.sessions[88], 0),
         coalesce(c.sessions[89], 0) + coalesce(excluded.sessions[89], 0), coalesce(c.sessions[90], 0) + coalesce(excluded.sessions[90], 0),
         coalesce(c.sessions[91], 0) + coalesce(excluded.sessions[91], 0), coalesce(c.sessions[92], 0) + coalesce(excluded.sessions[92], 0),
         coalesce(c.sessions[93], 0) + coalesce(excluded.sessions[93], 0), coalesce(c.sessions[94], 0) + coalesce(excluded.sessions[94], 0),
         coalesce(c.sessions[95], 0) + coalesce(excluded.sessions[95], 0), coalesce(c.sessions[96], 0) + coalesce(excluded.sessions[96], 0),
         coalesce(c.sessions[97], 0) + coalesce(excluded.sessions[97], 0), coalesce(c.sessions[98], 0) + coalesce(excluded.sessions[98], 0),
         coalesce(c.sessions[99], 0) + coalesce(excluded.sessions[99], 0), coalesce(c.sessions[100], 0) + coalesce(excluded.sessions[100], 0),
         coalesce(c.sessions[101], 0) + coalesce(excluded.sessions[101], 0), coalesce(c.sessions[102], 0) + coalesce(excluded.sessions[102], 0),
         coalesce(c.sessions[103], 0) + coalesce(excluded.sessions[103], 0), coalesce(c.sessions[104], 0) + coalesce(excluded.sessions[104], 0)
         ])[:greatest(cardinality(c.sessions), cardinality(excluded.sessions))],
         scored = c.scored + excluded.scored, score_micros = c.score_micros + excluded.score_micros;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- A job counts the sessions that are there again. It has another column, so that processes of older versions cannot do it in their way.
UPDATE integrations SET minutes_counted_to = NULL, minutes_recounted_to = date_trunc('minute', now(), 'UTC') - interval '38 days';
