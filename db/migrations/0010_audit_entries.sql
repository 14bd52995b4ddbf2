CREATE TABLE "audit_entries" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"occurred_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"action" text NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text COLLATE "C",
	"actor_name" text,
	"client_address" text,
	"integration_id" text COLLATE "C",
	"subject_id" text COLLATE "C" NOT NULL,
	"details" jsonb NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audit_entries_integration" ON "audit_entries" USING btree ("integration_id","occurred_at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_time" ON "audit_entries" USING btree ("occurred_at","id");