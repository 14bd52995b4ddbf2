CREATE TABLE "outcome_counts" (
	"integration_id" text COLLATE "C" NOT NULL,
	"day" date NOT NULL,
	"entry" bigint GENERATED ALWAYS AS IDENTITY (sequence name "outcome_counts_entry_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"delivered" bigint NOT NULL,
	"failed" bigint NOT NULL,
	CONSTRAINT "outcome_counts_integration_id_day_entry_pk" PRIMARY KEY("integration_id","day","entry")
);
--> statement-breakpoint
CREATE INDEX "outcome_counts_unfolded" ON "outcome_counts" USING btree ("entry") WHERE entry > 0;--> statement-breakpoint
CREATE FUNCTION "append_outcome_counts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO outcome_counts (integration_id, day, delivered, failed)
    SELECT integration_id, (finished_at AT TIME ZONE 'UTC')::date, -count(*) FILTER (WHERE status = 'Delivered'), -count(*) FILTER (WHERE status <> 'Delivered')
      FROM old_rows WHERE status <> 'Pending' AND finished_at IS NOT NULL AND NOT is_test GROUP BY 1, 2;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO outcome_counts (integration_id, day, delivered, failed)
    SELECT integration_id, (finished_at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE status = 'Delivered'), count(*) FILTER (WHERE status <> 'Delivered')
      FROM new_rows WHERE status <> 'Pending' AND finished_at IS NOT NULL AND NOT is_test GROUP BY 1, 2;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "deliveries_inserted" AFTER INSERT ON "webhook_deliveries" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION append_outcome_counts();
--> statement-breakpoint
CREATE TRIGGER "deliveries_updated" AFTER UPDATE ON "webhook_deliveries" REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION append_outcome_counts();
--> statement-breakpoint
CREATE TRIGGER "deliveries_removed" AFTER DELETE ON "webhook_deliveries" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION append_outcome_counts();
--> statement-breakpoint
-- Creating the triggers has locked the log against writes, so nothing is counted twice.
INSERT INTO outcome_counts (integration_id, day, entry, delivered, failed) OVERRIDING SYSTEM VALUE
SELECT integration_id, (finished_at AT TIME ZONE 'UTC')::date, 0, count(*) FILTER (WHERE status = 'Delivered'), count(*) FILTER (WHERE status <> 'Delivered')
  FROM webhook_deliveries WHERE status <> 'Pending' AND finished_at IS NOT NULL AND NOT is_test GROUP BY 1, 2;
