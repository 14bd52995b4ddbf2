-- Counts by bin, a row each, become arrays of counts by least bin: a count holds from the bin below its own on.
ALTER TABLE "session_rollups" RENAME TO "session_rollups_by_bin";
--> statement-breakpoint
ALTER TABLE "dimension_rollups" RENAME TO "dimension_rollups_by_bin";
--> statement-breakpoint
ALTER TABLE "seen_steps" RENAME TO "seen_steps_by_bin";
--> statement-breakpoint
CREATE TABLE "session_rollups" (
	"integration_id" text COLLATE "C" NOT NULL,
	"grain" text NOT NULL,
	"start" timestamp(3) with time zone NOT NULL,
	"sessions" integer[] NOT NULL,
	"events" bigint NOT NULL,
	"active" bigint NOT NULL,
	"scored" bigint NOT NULL,
	"score_micros" bigint NOT NULL,
	"matched" bigint NOT NULL,
	"confidence_micros" bigint NOT NULL,
	"labeled_bot" bigint NOT NULL,
	"labeled_human" bigint NOT NULL,
	"deviceless" integer[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dimension_rollups" (
	"integration_id" text COLLATE "C" NOT NULL,
	"grain" text NOT NULL,
	"start" timestamp(3) with time zone NOT NULL,
	"dimension" text NOT NULL,
	"value" text NOT NULL,
	"sessions" integer[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "seen_steps" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"grain" text NOT NULL,
	"start" timestamp(3) with time zone NOT NULL,
	"count" integer[] NOT NULL
);
--> statement-breakpoint
INSERT INTO "session_rollups" ("integration_id", "grain", "start", "sessions", "deviceless", "events", "active", "scored", "score_micros", "matched", "confidence_micros", "labeled_bot", "labeled_human")
SELECT integration_id, grain, start, array_agg(sessions ORDER BY level), array_agg(deviceless ORDER BY level), sum(events) FILTER (WHERE level = bin), sum(active) FILTER (WHERE level = bin),
       sum(scored) FILTER (WHERE level = bin), sum(score_micros) FILTER (WHERE level = bin), sum(matched) FILTER (WHERE level = bin), sum(confidence_micros) FILTER (WHERE level = bin),
       sum(labeled_bot) FILTER (WHERE level = bin), sum(labeled_human) FILTER (WHERE level = bin)
  FROM (SELECT integration_id, grain, start, bin, sum(sessions) OVER above AS sessions, sum(deviceless) OVER above AS deviceless, events, active, scored, score_micros, matched,
               confidence_micros, labeled_bot, labeled_human, generate_series(coalesce(lag(bin) OVER (PARTITION BY integration_id, grain, start ORDER BY bin), -3) + 1, bin) AS level
          FROM session_rollups_by_bin WINDOW above AS (PARTITION BY integration_id, grain, start ORDER BY bin DESC)) t
 GROUP BY integration_id, grain, start;
--> statement-breakpoint
INSERT INTO "dimension_rollups" ("integration_id", "grain", "start", "dimension", "value", "sessions")
SELECT integration_id, grain, start, dimension, value, array_agg(sessions ORDER BY level)
  FROM (SELECT integration_id, grain, start, dimension, value, sum(sessions) OVER (PARTITION BY integration_id, grain, start, dimension, value ORDER BY bin DESC) AS sessions,
               generate_series(coalesce(lag(bin) OVER (PARTITION BY integration_id, grain, start, dimension, value ORDER BY bin), -3) + 1, bin) AS level
          FROM (SELECT integration_id, grain, start, dimension, value, CASE dimension WHEN 'origin' THEN bin ELSE -2 END AS bin, sessions FROM dimension_rollups_by_bin) b) t
 GROUP BY integration_id, grain, start, dimension, value;
--> statement-breakpoint
INSERT INTO "seen_steps" ("integration_id", "kind", "grain", "start", "count")
SELECT integration_id, kind, grain, start, array_agg(count ORDER BY level)
  FROM (SELECT integration_id, kind, grain, start, sum(count) OVER (PARTITION BY integration_id, kind, grain, start ORDER BY bin DESC) AS count,
               generate_series(coalesce(lag(bin) OVER (PARTITION BY integration_id, kind, grain, start ORDER BY bin), -3) + 1, bin) AS level
          FROM seen_steps_by_bin) t
 GROUP BY integration_id, kind, grain, start;
--> statement-breakpoint
ALTER TABLE "session_rollups" ADD CONSTRAINT "session_rollups_integration_id_grain_start_pk" PRIMARY KEY("integration_id","grain","start");
--> statement-breakpoint
ALTER TABLE "dimension_rollups" ADD CONSTRAINT "dimension_rollups_integration_id_grain_start_dimension_value_pk" PRIMARY KEY("integration_id","grain","start","dimension","value");
--> statement-breakpoint
ALTER TABLE "seen_steps" ADD CONSTRAINT "seen_steps_integration_id_kind_grain_start_pk" PRIMARY KEY("integration_id","kind","grain","start");
--> statement-breakpoint
DROP TABLE "session_rollups_by_bin";
--> statement-breakpoint
DROP TABLE "dimension_rollups_by_bin";
--> statement-breakpoint
DROP TABLE "seen_steps_by_bin";
