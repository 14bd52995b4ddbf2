import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DomainContext } from '../../server/domain/context';
import { MAX_SORTED, readTopSessions, type SessionFilters, walkSessions } from '../../server/domain/session-walks';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { countRead, explainStatement, type PlanNode } from '../support/plans';
import { recordStatements } from '../support/statements';

// The cost of a page of sessions does not depend on what Postgres knows about the tables. Each filter walks its index
// in the order of the list, whether the statistics are fresh, missing, or older than the tenant.

const TENANT = 'int_m';
const SESSIONS = 12_000;
const ROWS = 51;
/** How many sessions a page may examine. The product's is larger, and so are its tenants. */
const BUDGET = 8_000;

/**
 * Inserts sessions of a tenant: a thousandth has user-1, device-1 and the flag rare; a tenth has course-1, half has
 * lms-1.
 */
const LOAD_SESSIONS = `
  insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
      browser, fingerprint, bot_score, score_bin, detection_flags, user_id, course_id, label)
    select $1, 'ses-' || n, now() - n * 7919 % 100003 * interval '1 s', 'Scored', 'https://lms.example.edu/', 'https://lms-' || n % 2, 'a browser',
      'Chrome', 'desktop', 'Chrome', 'device-' || n % 1000, 0.5, 50,
      case when n % 1000 = 1 then array['rare', 'common'] when n % 3 = 0 then array['common'] else '{}' end,
      'user-' || n % 1000, 'course-' || n % 10, case when n % 100 = 1 then 1 when n % 100 = 2 then -1 end
    from generate_series(1, $2::int) n`;
const LOAD_FLAGS = `
  insert into session_flags (integration_id, flag, created_at, session_id)
    select integration_id, unnest(detection_flags), created_at, id from sessions where integration_id = $1`;

type Load = (integrationId: string, sessions: number) => Promise<void>;
type Analyze = () => Promise<void>;

const STATES: [string, (load: Load, analyze: Analyze) => Promise<void>][] = [
  ['never renewed', (load) => load(TENANT, SESSIONS)],
  [
    'fresh',
    async (load, analyze) => {
      await load('int_a', 1_000);
      await load(TENANT, SESSIONS);
      await analyze();
    },
  ],
  [
    'older than the tenant',
    async (load, analyze) => {
      for (const id of ['int_a', 'int_b', 'int_z']) await load(id, 3_000);
      await analyze();
      await load(TENANT, SESSIONS);
    },
  ],
  [
    'of hundreds of small tenants',
    async (load, analyze) => {
      for (let n = 0; n < 300; n++) await load(`int_${n}`, 5);
      await analyze();
      await load(TENANT, SESSIONS);
    },
  ],
  [
    'of hundreds of tenants with one session each',
    async (load, analyze) => {
      for (let n = 0; n < 500; n++) await load(`int_${n}`, 1);
      await analyze();
      await load(TENANT, SESSIONS);
    },
  ],
  [
    'of the very first sessions',
    async (load, analyze) => {
      await load('int_a', 30);
      await analyze();
      await load(TENANT, SESSIONS);
    },
  ],
];

const KEY_OF_FLAGS = 'session_flags_integration_id_flag_created_at_session_id_pk';
/** Filters and the index that serves them. If several indexes would do, the first in this order is taken. */
const SERVED: [SessionFilters, string][] = [
  [{}, 'sessions_recent'],
  [{ userId: 'user-1' }, 'sessions_user'],
  [{ userId: 'nobody' }, 'sessions_user'],
  [{ fingerprint: 'device-1' }, 'sessions_fingerprint'],
  [{ label: 'bot' }, 'sessions_labeled'],
  [{ label: 'human' }, 'sessions_labeled'],
  [{ courseId: 'course-1' }, 'sessions_course'],
  [{ courseId: 'none' }, 'sessions_course'],
  [{ detectionFlag: 'common' }, KEY_OF_FLAGS],
  [{ detectionFlag: 'rare' }, KEY_OF_FLAGS],
  [{ detectionFlag: 'none' }, KEY_OF_FLAGS],
  [{ origin: 'https://lms-1' }, 'sessions_origin'],
  [{ origin: 'https://none' }, 'sessions_origin'],
];
/** Filters without an index for them, which select nothing here. */
const UNSERVED: [SessionFilters, string][] = [
  [{ status: 'Failed' }, 'sessions_recent'],
  [{ minBotScore: 0.9 }, 'sessions_recent'],
  [{ maxBotScore: 0.1 }, 'sessions_recent'],
  [{ riskLevel: 'bot', label: 'none' }, 'sessions_recent'],
  [{ deviceType: 'tablet' }, 'sessions_recent'],
  [{ origin: 'https://lms-1', status: 'Failed' }, 'sessions_origin'],
  [{ detectionFlag: 'common', status: 'Failed' }, KEY_OF_FLAGS],
  [{ label: 'bot', riskLevel: 'human' }, 'sessions_labeled'],
];
const PRECEDENCE: [SessionFilters, string][] = [
  [{ origin: 'x', detectionFlag: 'x' }, KEY_OF_FLAGS],
  [{ origin: 'x', detectionFlag: 'x', courseId: 'x' }, 'sessions_course'],
  [{ origin: 'x', detectionFlag: 'x', courseId: 'x', label: 'bot' }, 'sessions_labeled'],
  [{ origin: 'x', label: 'bot', fingerprint: 'x' }, 'sessions_fingerprint'],
  [{ origin: 'x', fingerprint: 'x', userId: 'x' }, 'sessions_user'],
  [{ label: 'none', origin: 'x' }, 'sessions_origin'],
];

describe.each(STATES)('with statistics %s', (_, prepare) => {
  let database: TestDatabase;
  let recorder: ReturnType<typeof recordStatements>;
  let context: DomainContext;

  beforeAll(async () => {
    database = await createTestDatabase();
    const { sql } = database.db;
    for (const table of ['sessions', 'session_flags', 'users'])
      await sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
    const load: Load = async (integrationId, sessions) => {
      await sql.unsafe(LOAD_SESSIONS, [integrationId, sessions]);
      await sql.unsafe(LOAD_FLAGS, [integrationId]);
    };
    await prepare(load, async () => {
      await sql.unsafe('analyze');
    });
    recorder = recordStatements(database.db);
    const integration = { id: TENANT, plan: 'enterprise', tier: 'enterprise', mediumAt: 40, botAt: 70 } as const;
    context = { integration, db: database.db, cursorKey: Buffer.alloc(32) };
  });
  afterAll(() => database.drop());

  /** Walks a stretch. Answers the plans of its statement, one for its parameters and a generic one. */
  async function explain(filters: SessionFilters, after: readonly [string, string] | null, isOldestFirst = false) {
    recorder.take();
    const stretch = { after, rows: ROWS, budget: BUDGET };
    const found = await walkSessions(context, filters, stretch, isOldestFirst);
    return { found, plans: await explainLast() };
  }

  async function explainLast(): Promise<PlanNode[][]> {
    const [statement, ...others] = recorder.take();
    expect([others, statement!.isPrepared]).toEqual([[], true]);
    const plans: PlanNode[][] = [];
    for (const kind of ['custom', 'generic'] as const)
      plans.push(await explainStatement(database.db.sql, statement!, kind));
    return plans;
  }

  /** Finds the walked index and how many of its entries were read. */
  function findWalk(nodes: PlanNode[]): { index: string | undefined; read: number } {
    expect(
      nodes
        .filter((node) => node['Relation Name'] !== 'users')
        .map((node) => node['Node Type'])
        .filter((type) => /Seq|Sort|Bitmap|Hash|Merge|Gather/.test(type)),
    ).toEqual([]);
    return findRange(nodes);
  }

  function findRange(nodes: PlanNode[]) {
    const [walk] = nodes.filter((node) => /ROW\(.*(>=.*ROW\(.*<|<.*ROW\(.*>)/.test(node['Index Cond'] ?? ''));
    return { index: walk?.['Index Name'], read: walk ? countRead(walk) : 0 };
  }

  it.each(SERVED)(
    '%j reads only the shown part of its index, on the first page and the next',
    async (filters, index) => {
      const first = await explain(filters, null);
      const last = first.found.at(-1);
      const next = last ? [await explain(filters, [last.createdAt, last.id])] : [];
      for (const { found, plans } of [first, ...next])
        for (const nodes of plans) {
          const walk = findWalk(nodes);
          expect(walk.index).toBe(index);
          expect(walk.read).toBeLessThanOrEqual(found.length + 1);
        }
    },
  );

  it.each(SERVED)('%j, oldest first, walks the same index from its other end', async (filters, index) => {
    const first = await explain(filters, null, true);
    const last = first.found.at(-1);
    const next = last ? [await explain(filters, [last.createdAt, last.id], true)] : [];
    for (const { found, plans } of [first, ...next])
      for (const nodes of plans) {
        const walk = findWalk(nodes);
        expect(walk.index).toBe(index);
        expect(walk.read).toBeLessThanOrEqual(found.length + 1);
      }
  });

  it.each(SERVED)('%j, by score, reads a bounded part of the same index', async (filters, index) => {
    recorder.take();
    await readTopSessions(context, filters, null, ROWS);
    for (const nodes of await explainLast()) {
      const walk = findRange(nodes);
      expect([
        walk.index,
        nodes.filter((node) => node['Relation Name'] !== 'users' && /Seq|Bitmap/.test(node['Node Type'])),
      ]).toEqual([index, []]);
      expect(walk.read).toBeLessThanOrEqual(MAX_SORTED);
    }
  });

  it.each(UNSERVED)('%j, which selects nothing, examines no more than the budget', async (filters, index) => {
    const { found, plans } = await explain(filters, null);
    expect(found.filter(({ isMatch }) => isMatch)).toEqual([]);
    for (const nodes of plans) {
      const walk = findWalk(nodes);
      expect(walk.index).toBe(index);
      expect(walk.read).toBeGreaterThan(100);
      expect(walk.read).toBeLessThanOrEqual(BUDGET);
      if (walk.read === BUDGET) expect(found).toMatchObject([{ examined: BUDGET }]);
    }
  });

  it.each(PRECEDENCE)('%j walks this one index', async (filters, index) => {
    for (const nodes of (await explain(filters, null)).plans) expect(findWalk(nodes).index).toBe(index);
  });

  it('dates limit the walk', async () => {
    const at = (seconds: number) => ({ at: new Date(Date.now() - seconds * 1000).toISOString(), isWholeDay: false });
    const range = { startDate: at(60_000), endDate: at(57_000) };
    for (const filters of [{ status: 'Failed' }, { status: 'Failed', origin: 'https://lms-1' }] as const)
      for (const nodes of (await explain({ ...filters, ...range }, null)).plans) {
        const { read } = findWalk(nodes);
        expect(read).toBeGreaterThan(100);
        expect(read).toBeLessThan(400);
      }
  });
});
