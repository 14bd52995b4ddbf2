import { afterAll, beforeAll, expect, it } from 'vitest';
import { findReplay } from '../../server/collector/replays';
import { digestTrace } from '../../server/detection/digests';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { countRead, explainStatement } from '../support/plans';
import { recordStatements } from '../support/statements';
import { imitate, RECORDED_HUMAN } from '../support/synthetic-sessions';

// What the search for an earlier session with the same input costs: each session makes it at its close.

const TENANT = 'int_m';
const SESSIONS = 30_000;
const SHARING = 2_000;
/** Sessions that share a digest, of which the search looks at no more. */
const MOST = 200;

const LOAD = `
  insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent, closed_at, digests)
  select $1, $2 || n, 'site', '2026-01-01'::timestamptz + n * interval '1 s', '2026-01-01', 'Mozilla/5.0 (X11; Linux x86_64)', now(),
         $4::text::bigint[] || array(select hashtextextended($2 || n || ' ' || k, 0) from generate_series(1, 12) k)
    from generate_series(1, $3::int) n`;

const closing = (seed: number) => {
  const { userAgent, batches } = imitate(RECORDED_HUMAN, seed);
  return { integrationId: TENANT, userAgent, batches, createdAtMs: Date.parse('2026-02-01') };
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database.db;
  await sql`alter table collected_sessions set (autovacuum_enabled = false)`;
  await sql.unsafe(LOAD, [TENANT, 'own-', SESSIONS, '{}']);
  const [one, two] = digestTrace(closing(2)).map(String);
  await sql.unsafe(LOAD, [TENANT, 'sharing-', SHARING, `{${one}}`]);
  await sql.unsafe(LOAD, [TENANT, 'same-', 1, `{${digestTrace(closing(3)).join()}}`]);
  await sql.unsafe(LOAD, ['int_other', 'other-', 1, `{${one},${two}}`]);
  await sql`vacuum analyze collected_sessions`;
});
afterAll(() => database.drop());

it.each([
  ['nobody had the same', 1, false],
  ['thousands share one stretch of it, as somebody can arrange', 2, false],
  ['one had the same', 3, true],
])('reads few sessions, if %s', async (_, seed, isReplay) => {
  const recorder = recordStatements(database.db);
  expect((await findReplay(database.db, closing(seed))).isReplay).toBe(isReplay);
  recorder.stop();
  const [statement, ...others] = recorder.take();
  expect(others).toEqual([]);
  for (const plan of ['custom', 'generic'] as const) {
    const nodes = await explainStatement(database.db.sql, statement!, plan);
    const read = nodes.filter((node) => node['Relation Name'] === 'collected_sessions');
    expect(read.map((node) => node['Node Type'])).toEqual(['Bitmap Heap Scan']);
    expect(countRead(read[0]!)).toBeLessThanOrEqual(MOST);
  }
});
