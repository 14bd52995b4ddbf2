import { defineConfig } from 'drizzle-kit';

/** `npm run db:generate` writes the next migration from the schema. */
export default defineConfig({ dialect: 'postgresql', schema: './db/schema/index.ts', out: './db/migrations' });
