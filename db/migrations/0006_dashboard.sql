DROP INDEX "anomalies_user";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "last_used_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "subscription_id" text COLLATE "C";--> statement-breakpoint
-- Of the attempts that are there already.
UPDATE "webhook_attempts" a SET "subscription_id" = d.subscription_id FROM "webhook_deliveries" d
 WHERE d.integration_id = a.integration_id AND d.id = a.delivery_id;--> statement-breakpoint
CREATE INDEX "alerts_recent" ON "alerts" USING btree ("integration_id","triggered_at","id");--> statement-breakpoint
CREATE INDEX "reports_recent" ON "reports" USING btree ("integration_id","completed_at","id");--> statement-breakpoint
CREATE INDEX "anomalies_recent" ON "anomalies" USING btree ("integration_id","detected_at","id");--> statement-breakpoint
CREATE INDEX "anomalies_session" ON "anomalies" USING btree ("integration_id","session_id","detected_at","id");--> statement-breakpoint
CREATE INDEX "anomalies_type" ON "anomalies" USING btree ("integration_id","type","detected_at","id");--> statement-breakpoint
CREATE INDEX "anomalies_severity" ON "anomalies" USING btree ("integration_id","severity","detected_at","id");--> statement-breakpoint
CREATE INDEX "domain_events_type" ON "domain_events" USING btree ("integration_id","type","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_attempts_recent" ON "webhook_attempts" USING btree ("integration_id","subscription_id","started_at");--> statement-breakpoint
CREATE INDEX "anomalies_user" ON "anomalies" USING btree ("integration_id","user_id","detected_at","id");