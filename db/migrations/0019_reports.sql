CREATE TABLE "report_chunks" (
	"integration_id" text COLLATE "C" NOT NULL,
	"report_id" text COLLATE "C" NOT NULL,
	"part" text NOT NULL,
	"number" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "report_chunks_integration_id_report_id_part_number_pk" PRIMARY KEY("integration_id","report_id","part","number")
);
--> statement-breakpoint
CREATE TABLE "report_jobs" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"name" text NOT NULL,
	"template" text NOT NULL,
	"format" text NOT NULL,
	"parameters" jsonb NOT NULL,
	"start_at" timestamp(3) with time zone NOT NULL,
	"end_at" timestamp(3) with time zone NOT NULL,
	"state" text DEFAULT 'Queued' NOT NULL,
	"failure" text,
	"requested_by" text,
	"requested_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"woken_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"run_id" text,
	"record_count" integer DEFAULT 0 NOT NULL,
	"file_size" double precision,
	"store" text,
	"parts" jsonb,
	"completed_at" timestamp(3) with time zone,
	"expires_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "report_jobs_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
CREATE TABLE "report_schedules" (
	"integration_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"name" text NOT NULL,
	"template" text NOT NULL,
	"format" text NOT NULL,
	"parameters" jsonb NOT NULL,
	"cadence" text NOT NULL,
	"weekday" smallint,
	"day_of_month" smallint,
	"hour" smallint NOT NULL,
	"time_zone" text NOT NULL,
	"next_due_at" timestamp(3) with time zone NOT NULL,
	"created_by" text,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "report_schedules_integration_id_id_pk" PRIMARY KEY("integration_id","id")
);
--> statement-breakpoint
ALTER TABLE "report_chunks" ADD CONSTRAINT "report_chunks_report" FOREIGN KEY ("integration_id","report_id") REFERENCES "public"."report_jobs"("integration_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "report_jobs_id" ON "report_jobs" USING btree ("id");--> statement-breakpoint
CREATE INDEX "report_jobs_recent" ON "report_jobs" USING btree ("integration_id","requested_at","id");--> statement-breakpoint
CREATE INDEX "report_jobs_unfinished" ON "report_jobs" USING btree ("woken_at") WHERE state in ('Queued', 'Running');--> statement-breakpoint
CREATE INDEX "report_jobs_expiry" ON "report_jobs" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "report_schedules_due" ON "report_schedules" USING btree ("next_due_at");