CREATE TABLE "session_flags" (
	"integration_id" text COLLATE "C" NOT NULL,
	"flag" text COLLATE "C" NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "session_flags_integration_id_flag_created_at_session_id_pk" PRIMARY KEY("integration_id","flag","created_at","session_id")
);
--> statement-breakpoint
CREATE INDEX "sessions_labeled" ON "sessions" USING btree ("integration_id","label","created_at","id") WHERE label is not null;--> statement-breakpoint
-- Of the sessions that are there already.
INSERT INTO "session_flags" ("integration_id", "flag", "created_at", "session_id")
SELECT DISTINCT s.integration_id, f.flag, s.created_at, s.id FROM "sessions" s CROSS JOIN LATERAL unnest(s.detection_flags) AS f(flag);
--> statement-breakpoint
-- Lists are planned for a tenant of the middle size: a fixed share of the table, the one that Postgres assumes before it
-- has statistics. Counted, it is next to nothing where most tenants have a session or two, and all indexes look alike.
ALTER TABLE "sessions" ALTER COLUMN "integration_id" SET (n_distinct = 200);--> statement-breakpoint
ALTER TABLE "session_flags" ALTER COLUMN "integration_id" SET (n_distinct = 200);
