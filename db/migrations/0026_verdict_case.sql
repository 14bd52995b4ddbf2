ALTER TABLE "device_confirmations" ADD COLUMN "confirmed_by" text;--> statement-breakpoint
CREATE INDEX "audit_entries_thresholds" ON "audit_entries" USING btree ("integration_id","occurred_at","id") WHERE action = 'ThresholdsChanged';--> statement-breakpoint
CREATE FUNCTION "append_row_removal"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO row_counts (integration_id, kind, rows) VALUES (OLD.integration_id, TG_TABLE_NAME, -1);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "device_confirmations_discounted" AFTER DELETE ON "device_confirmations" FOR EACH ROW EXECUTE FUNCTION append_row_removal();
