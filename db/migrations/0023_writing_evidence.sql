DROP INDEX "writing_scores_recent";--> statement-breakpoint
ALTER TABLE "writing_scores" ADD COLUMN "browsing_session_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "writing_scores" ADD COLUMN "evidence" jsonb;--> statement-breakpoint
CREATE INDEX "writing_scores_by_session" ON "writing_scores" USING btree ("integration_id","browsing_session_id","scored_at","session_id");--> statement-breakpoint
CREATE INDEX "writing_scores_by_user" ON "writing_scores" USING btree ("integration_id","user_id","scored_at","session_id");--> statement-breakpoint
CREATE INDEX "writing_scores_recent" ON "writing_scores" USING btree ("integration_id","scored_at","session_id");