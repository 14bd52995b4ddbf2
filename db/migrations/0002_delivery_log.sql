CREATE TABLE "pruned_outcomes" (
	"integration_id" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"delivered" bigint NOT NULL,
	"failed" bigint NOT NULL,
	CONSTRAINT "pruned_outcomes_integration_id_day_pk" PRIMARY KEY("integration_id","day")
);
--> statement-breakpoint
DROP INDEX "webhook_deliveries_due";--> statement-breakpoint
ALTER TABLE "webhook_attempts" DROP CONSTRAINT "webhook_attempts_integration_id_delivery_id_attempt_pk";--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "resend" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "retry_after" text;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_integration_id_delivery_id_resend_attempt_pk" PRIMARY KEY("integration_id","delivery_id","resend","attempt");--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "resends" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "crashes" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "domain_events_skipped" ON "domain_events" USING btree ("integration_id","created_at","id") WHERE skips is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_log" ON "webhook_deliveries" USING btree ("integration_id","subscription_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_failed" ON "webhook_deliveries" USING btree ("integration_id","subscription_id","created_at","id") WHERE status not in ('Pending', 'Delivered');--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("integration_id","subscription_id","next_attempt_at") WHERE status = 'Pending' and lease is null;
