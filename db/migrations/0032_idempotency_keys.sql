CREATE TABLE "idempotency_keys" (
	"integration_id" text COLLATE "C" NOT NULL,
	"api_key_id" text COLLATE "C" NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"content_hash" "bytea" NOT NULL,
	"claim" uuid NOT NULL,
	"claimed_until" timestamp(3) with time zone NOT NULL,
	"answer_sealed" "bytea",
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_integration_id_api_key_id_key_hash_pk" PRIMARY KEY("integration_id","api_key_id","key_hash")
);
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_integration_id_integrations_id_fk" FOREIGN KEY ("integration_id") REFERENCES "public"."integrations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("integration_id","created_at");