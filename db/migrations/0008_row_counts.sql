CREATE TABLE "row_counts" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"entry" bigint GENERATED ALWAYS AS IDENTITY (sequence name "row_counts_entry_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"rows" bigint NOT NULL,
	CONSTRAINT "row_counts_integration_id_kind_entry_pk" PRIMARY KEY("integration_id","kind","entry")
);

--> statement-breakpoint
CREATE FUNCTION "append_row_count"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO row_counts (integration_id, kind, rows) VALUES (NEW.integration_id, TG_TABLE_NAME, 1);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- By row: most statements that may write there write nothing, and a trigger of the statement would run all the same.
CREATE TRIGGER "courses_counted" AFTER INSERT ON "courses" FOR EACH ROW EXECUTE FUNCTION append_row_count();
--> statement-breakpoint
CREATE TRIGGER "anomalies_counted" AFTER INSERT ON "anomalies" FOR EACH ROW EXECUTE FUNCTION append_row_count();
--> statement-breakpoint
CREATE TRIGGER "device_confirmations_counted" AFTER INSERT ON "device_confirmations" FOR EACH ROW EXECUTE FUNCTION append_row_count();
--> statement-breakpoint
INSERT INTO row_counts (integration_id, kind, entry, rows) OVERRIDING SYSTEM VALUE
SELECT integration_id, 'courses', 0, count(*) FROM courses GROUP BY integration_id
UNION ALL
SELECT integration_id, 'anomalies', 0, count(*) FROM anomalies GROUP BY integration_id
UNION ALL
SELECT integration_id, 'device_confirmations', 0, count(*) FROM device_confirmations GROUP BY integration_id;
