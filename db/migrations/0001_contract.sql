CREATE TABLE "courses" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"name" text NOT NULL,
	"code" text,
	"url" text NOT NULL,
	CONSTRAINT "courses_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "usage_daily" (
	"integration_id" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"requests" bigint NOT NULL,
	"client_errors" bigint NOT NULL,
	"server_errors" bigint NOT NULL,
	"rate_limited" bigint NOT NULL,
	CONSTRAINT "usage_daily_integration_id_day_method_path_pk" PRIMARY KEY("integration_id","day","method","path")
);
--> statement-breakpoint
CREATE TABLE "anomalies" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"severity" text NOT NULL,
	"detected_at" timestamp(3) with time zone NOT NULL,
	"session_id" text COLLATE "C",
	"user_id" text COLLATE "C",
	"fingerprint" text COLLATE "C",
	"metadata" jsonb,
	CONSTRAINT "anomalies_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "device_confirmations" (
	"integration_id" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"fingerprint" text COLLATE "C" NOT NULL,
	"first_confirmed_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"confirmed_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"notes" text,
	CONSTRAINT "device_confirmations_integration_id_user_id_fingerprint_pk" PRIMARY KEY("integration_id","user_id","fingerprint")
);
--> statement-breakpoint
CREATE TABLE "session_correlations" (
	"integration_id" text COLLATE "C" NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"correlated_at" timestamp(3) with time zone NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"confidence" double precision NOT NULL,
	"context_id" text,
	CONSTRAINT "session_correlations_integration_id_session_id_correlated_at_pk" PRIMARY KEY("integration_id","session_id","correlated_at")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"name" text NOT NULL,
	"email" text,
	"url" text,
	"described_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "users_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ALTER COLUMN "event_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "label_confidence" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "label_notes" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "labeled_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "correlated_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "is_test" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "anomalies_user" ON "anomalies" USING btree ("integration_id","user_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_finished" ON "webhook_deliveries" USING btree ("integration_id","finished_at") WHERE status <> 'Pending';--> statement-breakpoint
-- Courses of the sessions that are there already. An address is the right one if it gives the id.
INSERT INTO "courses" ("integration_id", "id", "name", "code", "url")
SELECT DISTINCT ON (s.integration_id, s.course_id) s.integration_id, s.course_id,
       'Course ' || regexp_replace(c.path, '^.*[/=](course-v1:)?', ''), substring(c.path from '/course-v1:(.+)$'), s.origin || c.path
  FROM "sessions" s
 CROSS JOIN LATERAL (SELECT regexp_replace(s.page_url, '^[A-Za-z]+://[^/?#]+', '') AS rest) r
 CROSS JOIN LATERAL (VALUES
       (substring(r.rest from '^/courses/\d+')),
       (substring(r.rest from '^/courses/course-v1:[^/?#]+')),
       (substring(r.rest from '^/ultra/courses/[^/?#]+')),
       (substring(r.rest from '^/d2l/home/\d+')),
       ('/d2l/home/' || substring(r.rest from '^/d2l/le/content/(\d+)')),
       (substring(r.rest from '^/course/\d+')),
       (substring(r.rest from '^[^?#]*/course/view\.php') || '?id=' || substring(r.rest from '[?&]id=([^&#]+)')),
       (substring(r.rest from '^/webapps/blackboard/[^?#]*') || '?course_id=' || substring(r.rest from '[?&]course_id=([^&#]+)'))
       ) c(path)
 WHERE s.course_id IS NOT NULL AND c.path IS NOT NULL
   AND left(encode(sha256(convert_to(s.origin || c.path, 'UTF8')), 'hex'), 16) = s.course_id
 ORDER BY s.integration_id, s.course_id;
