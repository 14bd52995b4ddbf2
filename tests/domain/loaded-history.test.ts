import { getTableColumns } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessions } from '../../db/schema';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { describeHistory, loadHistories } from '../bench/history';
import { COUNT_TABLES, readCounts } from '../support/count-rows';
import { createTestDatabase, type TestDatabase } from '../support/database';

// Benchmarks of long histories must read the rows that the product itself would have made of those sessions.

const SESSIONS = 5_000;
const PARTS = 25;
let database: TestDatabase;
let indexes: string[];
beforeAll(async () => {
  database = await createTestDatabase();
  indexes = await readIndexes();
  await loadHistories(database.url, [
    { integrationId: 'loaded', sessions: SESSIONS },
    { integrationId: 'other', sessions: 100 },
  ]);
});
afterAll(() => database.drop());

async function readIndexes(): Promise<string[]> {
  const rows = await database.db.sql<
    { indexdef: string }[]
  >`select indexdef from pg_indexes where schemaname = 'public'`;
  return rows.map(({ indexdef }) => indexdef).sort();
}

/** Reads the rows of a tenant as text, without the integration's id. */
async function readRows(table: string, integrationId: string): Promise<string[]> {
  const { sql } = database.db;
  const rows = await sql<{ row: Record<string, unknown> }[]>`
    select to_jsonb(t) - 'integration_id' as row from ${sql(table)} t where integration_id = ${integrationId}`;
  return rows
    .flatMap(({ row }) => readCounts(row) ?? [])
    .map((row) => JSON.stringify(row))
    .sort();
}

describe('a loaded history', () => {
  it('is counted as if its sessions had arrived in parts and in any order', async () => {
    const { sql } = database.db;
    const columns = Object.values(getTableColumns(sessions))
      .filter(({ generated, name }) => !generated && name !== 'integration_id')
      .map(({ name }) => name)
      .join(', ');
    for (let part = 0; part < PARTS; part++) {
      await sql.unsafe(
        `insert into sessions (integration_id, ${columns}) select 'copied', ${columns} from sessions
          where integration_id = 'loaded' and (hashtext(id) & 65535) % ${PARTS} = $1`,
        [part],
      );
      if (part % 3 === 0) await foldSessionDeltas(database.db);
    }
    await foldSessionDeltas(database.db);
    for (const table of COUNT_TABLES) {
      const rows = await readRows(table, 'loaded');
      expect(rows.length, table).toBeGreaterThan(0);
      expect(await readRows(table, 'copied'), table).toEqual(rows);
    }
  });

  it('leaves the indexes as they were and nothing to fold', async () => {
    expect(await readIndexes()).toEqual(indexes);
    expect(await database.db.sql`select 1 from session_deltas`).toHaveLength(0);
  });

  it('is spread evenly over the last 90 days and has values for every filter of a list', async () => {
    const { users, devicesPerUser, courses, origins, flags } = describeHistory(SESSIONS);
    const [row] = await database.db.sql`
      select count(*)::int as sessions, min(created_at) > now() - interval '90 days 1 minute' as "isRecent", max(created_at) < now() as "isPast",
             count(distinct date_trunc('day', created_at, 'UTC'))::int >= 90 as "isEven",
             count(distinct user_id)::int as users, count(distinct course_id)::int <= ${courses} as "fewCourses",
             count(distinct fingerprint)::int <= ${users * devicesPerUser} as "fewDevices", count(distinct origin)::int as origins,
             count(distinct effective_bin)::int as bins, count(distinct label)::int as labels,
             (select count(distinct flag)::int from session_flags where integration_id = 'loaded') as flags
        from sessions where integration_id = 'loaded'`;
    expect(row).toEqual({
      ...{ sessions: SESSIONS, isRecent: true, isPast: true, isEven: true, users, fewCourses: true, fewDevices: true },
      ...{ origins, bins: 103, labels: 2, flags: flags.length },
    });
  });
});
