-- In this order, so that reads wait for a moment only.
CREATE INDEX "sessions_labeled_scores" ON "sessions" USING btree ("integration_id","label","created_at","id","score_bin") WHERE label is not null;--> statement-breakpoint
DROP INDEX "sessions_labeled";--> statement-breakpoint
ALTER INDEX "sessions_labeled_scores" RENAME TO "sessions_labeled";
