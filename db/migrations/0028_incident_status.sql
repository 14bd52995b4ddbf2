DROP INDEX "alerts_unresolved";--> statement-breakpoint
DROP INDEX "anomalies_unresolved";--> statement-breakpoint
CREATE INDEX "alerts_status" ON "alerts" USING btree ("integration_id",(case when resolved_at is not null then 'Resolved' when acknowledged_at is not null then 'Acknowledged' else 'Open' end),"triggered_at","id");--> statement-breakpoint
CREATE INDEX "anomalies_status" ON "anomalies" USING btree ("integration_id",(case when resolved_at is not null then 'Resolved' when acknowledged_at is not null then 'Acknowledged' else 'Open' end),"detected_at","id");