-- In this order, so that reads wait for a moment only.
CREATE INDEX "webhook_deliveries_retries" ON "webhook_deliveries" USING btree ("integration_id","subscription_id","next_attempt_at") WHERE status = 'Pending' and lease is null and attempts > 0;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_leased" ON "webhook_deliveries" USING btree ("next_attempt_at") WHERE status = 'Pending' and lease is not null;--> statement-breakpoint
DROP INDEX "webhook_deliveries_sweep";
