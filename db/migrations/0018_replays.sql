ALTER TABLE "collected_sessions" ADD COLUMN "digests" bigint[];--> statement-breakpoint
ALTER TABLE "collected_sessions" ADD COLUMN "is_replay" boolean;--> statement-breakpoint
CREATE INDEX "collected_sessions_digests" ON "collected_sessions" USING gin ("digests");