import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { createLookUps, MAX_VISITS } from '../../server/findings/history';
import { countRead, explainStatement, type PlanNode } from '../support/plans';
import { findUncalled, listRouteCalls } from '../support/route-calls';
import { startTestServer, type TestServer } from '../support/server';
import { recordStatements, type Statement } from '../support/statements';
import { IN_VOLUME, loadVolumes } from '../support/volume';

// What a reading request costs the database: how many statements, and what each reads, for a tenant of 12,000 sessions
// among twice as many of others.

const SESSIONS = 12_000;
const OTHERS = 4;
const SESSIONS_OF_EACH = 6_000;
/** The look-up of the key, which counts the request too, is not included. */
const MAX_STATEMENTS = 2;
const LARGE_TABLES = ['sessions', 'session_flags', 'session_events', 'webhook_deliveries'];

let server: TestServer;
let recorder: ReturnType<typeof recordStatements>;
let key: string;

beforeAll(async () => {
  // The embedded engine is off, because its statements would be counted too.
  server = await startTestServer({ INNGEST_DEV: '1', QUOTA_ENTERPRISE: '100000000' });
  const tenant = await server.createTenant();
  key = tenant.key;
  const volumes = [{ integrationId: tenant.id, sessions: SESSIONS }];
  for (let n = 0; n < OTHERS; n++)
    volumes.push({ integrationId: (await server.createTenant()).id, sessions: SESSIONS_OF_EACH });
  await loadVolumes(server.database.db, volumes);
  // The state a minute later, when everything is folded. The counts of the other tenants are never read.
  const { sql } = server.database.db;
  await sql`delete from session_deltas where integration_id <> ${tenant.id}`;
  await foldSessionDeltas(server.database.db);
  // The subscription, event and delivery that the calls name.
  await sql`
    insert into domain_events (integration_id, id, type, natural_key, payload)
    values (${tenant.id}, 'evt-1', 'BotDetected', 'named', '{}')`;
  await sql`
    insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, finished_at)
    values (${tenant.id}, 'dlv-1', 'whk-1', 'evt-1', 'Delivered', now())`;
  await sql.unsafe('analyze');
  recorder = recordStatements(server.service.db);
});
afterAll(() => server.stop());

/** Records the statements of one request, without the look-up of its key. */
async function record(path: string): Promise<Statement[]> {
  // Writes the counts of earlier requests now, so that no timer does it later.
  await server.service.usage.flush();
  recorder.take();
  const { status, text } = await server.call('GET', path, { key });
  expect([path, status, text]).toEqual([path, 200, text]);
  const [lookUp, ...statements] = recorder.take();
  expect(lookUp!.text).toContain('from api_keys');
  return statements;
}

function listReads(): string[] {
  const { busiest, longSession, origin } = IN_VOLUME;
  const routes = listRouteCalls({
    ...{ ...busiest, sessionId: longSession, origin, webhookId: 'whk-1', deliveryId: 'dlv-1', eventId: 'evt-1' },
    ...{ detectionFlag: 'webdriver', webhookUrl: 'https://example.com/' },
  });
  expect(findUncalled(routes)).toEqual([]);
  // Exports read page by page. The others read what a test of their own names.
  const isRead = (route: string) =>
    route.startsWith('GET ') && !/ \/v1\/(exports|user-erasures)\/|\/export$/.test(route);
  const reads = [...routes].filter(([route]) => isRead(route));
  return [...reads.flatMap(([, calls]) => calls.map(({ path }) => path)), '/v1/sessions/ses-2/events'];
}

const { busiest } = IN_VOLUME;
const SESSION_LISTS = [
  '/v1/sessions',
  `/v1/sessions?userId=${busiest.userId}`,
  `/v1/sessions?courseId=${busiest.courseId}`,
  `/v1/sessions?fingerprint=${busiest.fingerprint}`,
  `/v1/sessions?origin=${encodeURIComponent(IN_VOLUME.origin)}`,
  '/v1/sessions?label=bot',
  '/v1/sessions?detectionFlag=webdriver',
  `/v1/users/${busiest.userId}/sessions`,
];
/** Filters that select some dozen sessions, scattered over the whole time. */
const RARE = ['userId=user-00007', 'courseId=course-00007', 'fingerprint=device-00007'];
const LISTS = [...SESSION_LISTS, `/v1/sessions/${IN_VOLUME.longSession}/events`, '/v1/users', '/v1/courses'];

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

/** Reads pages and answers the cursor of the next one. */
async function walk(path: string, pages: number): Promise<string> {
  let cursor = '';
  for (let page = 0; page < pages; page++) {
    const { body } = await server.call('GET', withQuery(path, `pageSize=100${cursor}`), { key });
    cursor = `&cursor=${body.pagination.nextCursor}`;
  }
  return cursor;
}

describe('a reading request', () => {
  it(`sends at most ${MAX_STATEMENTS} statements after the one for key and limit`, async () => {
    const counts = new Map<string, number>();
    for (const path of listReads()) counts.set(path, (await record(path)).length);
    expect(counts.size).toBeGreaterThan(25);
    expect([...counts].filter(([, count]) => count > MAX_STATEMENTS)).toEqual([]);
    // Every request is recorded. Only the thresholds need no statement: they came with the key.
    expect([...counts].filter(([, count]) => count === 0)).toEqual([['/v1/settings/risk-thresholds', 0]]);
    expect([counts.get('/v1/usage'), counts.get('/v1/sessions')]).toEqual([1, 1]);
    await server.call('GET', '/v1/stats', { key });
    recorder.take();
    await server.call('GET', '/v1/usage', { key });
    expect(recorder.take()).toHaveLength(1 + MAX_STATEMENTS);
  });

  it('for an export sends one statement for each page of its list', async () => {
    // It takes so long that counts of requests may be written meanwhile.
    const statements = (await record('/v1/exports/sessions')).filter(({ text }) => !text.includes('usage_daily'));
    expect(statements).toHaveLength(SESSIONS / 100);
    expect(await record('/v1/exports/audit-log')).toHaveLength(1);
  });

  it.each(LISTS)('%s sends as many for a page of 100 as for a page of 1', async (path) => {
    const answer = await server.call('GET', withQuery(path, 'pageSize=100'), { key });
    expect(answer.body.data).toHaveLength(100);
    const [small, large] = [await record(withQuery(path, 'pageSize=1')), await record(withQuery(path, 'pageSize=100'))];
    expect([small.length, large.length]).toEqual([1, 1]);
    const next = await walk(path, 1);
    expect(await record(withQuery(path, `pageSize=100${next}`))).toHaveLength(1);
  });
});

describe('a reading statement', () => {
  /** Explains all statements of a request, with a plan for its parameters and a generic one. */
  async function explain(path: string): Promise<{ kind: string; nodes: PlanNode[] }[]> {
    const plans: { kind: string; nodes: PlanNode[] }[] = [];
    for (const statement of await record(path))
      for (const kind of statement.isPrepared ? (['custom', 'generic'] as const) : (['custom'] as const))
        if (!statement.text.includes('insert into usage_daily'))
          plans.push({ kind, nodes: await explainStatement(server.database.db.sql, statement, kind) });
    return plans;
  }

  const scansOf = (nodes: PlanNode[], tables: string[]) =>
    nodes.filter((node) => tables.includes(node['Relation Name'] ?? ''));

  it('finds the tenant’s rows of large tables by an index', async () => {
    let found = 0;
    for (const path of listReads())
      for (const { kind, nodes } of await explain(path)) {
        const scans = scansOf(nodes, LARGE_TABLES);
        found += scans.length;
        const described = scans.map((scan) => `${kind} ${scan['Node Type']} on ${scan['Relation Name']}`);
        expect([path, described.filter((text) => text.includes('Seq Scan'))]).toEqual([path, []]);
        const unbound = nodes.filter((node) => /Index/.test(node['Node Type']) && !isBound(node));
        expect([path, unbound]).toEqual([path, []]);
      }
    expect(found).toBeGreaterThan(40);
  });

  it.each(SESSION_LISTS)('of %s reads hardly more rows than its page has', async (path) => {
    const deep = await walk(path, 9);
    for (const query of ['pageSize=100', 'pageSize=10', `pageSize=100${deep}`, `pageSize=10${deep}`])
      for (const { kind, nodes } of await explain(withQuery(path, query))) {
        const limit = Number(/pageSize=(\d+)/.exec(query)![1]);
        const scans = scansOf(nodes, ['sessions']);
        const read = scans.reduce((total, node) => total + countRead(node), 0);
        expect([kind, query, read]).toEqual([kind, query, expect.any(Number)]);
        expect(read, `${kind} ${query}`).toBeGreaterThan(limit);
        expect(read, `${kind} ${query}`).toBeLessThanOrEqual(2 * limit);
        expect(nodes.filter((node) => node['Node Type'].includes('Sort'))).toEqual([]);
      }
  });

  it.each(RARE)('for the few sessions with %s reads hardly more than those', async (filter) => {
    const path = `/v1/sessions?pageSize=100&${filter}`;
    const found = (await server.call('GET', path, { key })).body.data.length;
    expect(found).toBeGreaterThan(5);
    expect(found).toBeLessThan(100);
    const [plan] = await explain(path);
    const read = scansOf(plan!.nodes, ['sessions']).reduce((total, node) => total + countRead(node), 0);
    expect(read).toBeGreaterThanOrEqual(found);
    expect(read).toBeLessThanOrEqual(2 * found);
  });
});

/** Whether an index is searched by the integration: its id in a tenant's table, or the key of the integrations. */
const isBound = (node: PlanNode) => /\bintegration_id = |\(id = /.test(node['Index Cond'] ?? '');

describe('what the rules on findings look up', () => {
  const { busiest, longSession } = IN_VOLUME;
  /** A session of a user and a device with a tenth of all sessions, in the middle of their time. */
  async function recordLookUps(): Promise<Statement[]> {
    const { db } = server.service;
    const [{ integration }] = (await server.database.db.sql`
      select integration_id as integration from api_keys order by created_at limit 1`) as unknown as [
      { integration: string },
    ];
    const lookUps = createLookUps(db);
    // Usage is written two seconds after a request, perhaps among the statements below.
    await server.service.usage.flush();
    recorder.take();
    const session = (await lookUps.readSession(integration, longSession))!;
    const middle = new Date(Date.now() - 45 * 86_400_000).toISOString();
    const of = { ...session, createdAt: middle, userId: busiest.userId, fingerprint: busiest.fingerprint };
    const history = lookUps.openHistory(integration, of);
    expect(await history.listDeviceVisits()).toHaveLength(MAX_VISITS);
    expect(await history.listUserVisits()).toHaveLength(MAX_VISITS);
    const named = { ...of, correlatedAt: middle, correlationConfidence: 1 };
    expect(await history.listVisitsBefore(named)).toHaveLength(MAX_VISITS);
    expect(await history.listEvents(longSession)).toHaveLength(IN_VOLUME.eventsOfLongSession);
    await Promise.all([history.listMatches(longSession), history.readSegments(), history.readUserName(busiest.userId)]);
    return recorder.take();
  }

  it('is read by an index, and no more rows than the limit', async () => {
    const statements = await recordLookUps();
    expect(statements).toHaveLength(8);
    for (const statement of statements)
      for (const kind of ['custom', 'generic'] as const) {
        const nodes = await explainStatement(server.database.db.sql, statement, kind);
        const scans = nodes.filter((node) => LARGE_TABLES.includes(node['Relation Name'] ?? ''));
        const described = `${kind} ${statement.text}`;
        expect([described, scans.filter((node) => !/Index/.test(node['Node Type']))]).toEqual([described, []]);
        const read = scans.map(countRead);
        expect([described, read.filter((rows) => rows > Math.max(MAX_VISITS, IN_VOLUME.eventsOfLongSession))]).toEqual([
          described,
          [],
        ]);
      }
  });
});
