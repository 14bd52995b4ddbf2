CREATE TABLE "pruned_ends" (
	"integration_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"first_seen_at" timestamp(3) with time zone NOT NULL,
	"last_seen_at" timestamp(3) with time zone NOT NULL,
	"max_bot_score" double precision,
	CONSTRAINT "pruned_ends_integration_id_kind_value_pk" PRIMARY KEY("integration_id","kind","value")
);
