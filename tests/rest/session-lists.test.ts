import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListSessionsInput, Session } from '../../contract/sessions';
import type { DomainContext } from '../../server/domain/context';
import { decodeCursor } from '../../server/domain/cursors';
import type { SessionFilters } from '../../server/domain/session-walks';
import { listSessions } from '../../server/domain/sessions';
import { Customer } from '../support/customer';
import { closed, scored, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';
import { compareBytes } from '../support/tenant-model';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** A session as the lists see it. */
interface Row {
  id: string;
  createdAt: string;
  status: 'Active' | 'Scored';
  userId: string | null;
  fingerprint: string | null;
  courseId: string | null;
  origin: string;
  label: 1 | -1 | null;
  detectionFlags: string[];
  deviceType: 'desktop' | 'mobile';
  botScore: number | null;
}
type Position = readonly [createdAt: string, id: string];

const TIMES = ['2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.001Z', '2026-03-02T00:00:00.000Z'];
const SCORES = [0.2, 0.5, 0.9];
const FLAGS = ['a', 'b', 'A'];

const row = fc.record({
  prefix: fc.constantFrom('', 'Z', 'é', '😀'),
  createdAt: fc.constantFrom(...TIMES),
  status: fc.constantFrom('Active' as const, 'Scored' as const),
  userId: fc.option(fc.constantFrom('u', 'U')),
  fingerprint: fc.option(fc.constantFrom('f', 'F')),
  courseId: fc.option(fc.constantFrom('c', 'C')),
  origin: fc.constantFrom('https://o', 'https://p'),
  label: fc.constantFrom(1 as const, -1 as const, null),
  detectionFlags: fc.uniqueArray(fc.constantFrom(...FLAGS)),
  deviceType: fc.constantFrom('desktop' as const, 'mobile' as const),
  botScore: fc.option(fc.constantFrom(...SCORES)),
});
type Spec = typeof row extends fc.Arbitrary<infer T> ? T : never;
const bound = fc.constantFrom(...TIMES).map((at) => ({ at, isWholeDay: false }));
const filters = fc.record(
  {
    startDate: bound,
    endDate: bound,
    status: fc.constantFrom('Active' as const, 'Scored' as const, 'Failed' as const),
    minBotScore: fc.constantFrom(...SCORES),
    maxBotScore: fc.constantFrom(...SCORES),
    riskLevel: fc.constantFrom('bot' as const, 'medium' as const, 'human' as const),
    detectionFlag: fc.constantFrom(...FLAGS, 'nowhere'),
    label: fc.constantFrom('bot' as const, 'human' as const, 'none' as const),
    userId: fc.constantFrom('u', 'U', 'nobody'),
    courseId: fc.constantFrom('c', 'C'),
    fingerprint: fc.constantFrom('f', 'F'),
    origin: fc.constantFrom('https://o', 'https://p'),
    deviceType: fc.constantFrom('desktop' as const, 'mobile' as const),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<SessionFilters>;
/** One filter, two, or any number. */
const filterSets = fc
  .array(filters, { minLength: 3, maxLength: 3 })
  .map(([some, one, two]): SessionFilters[] => [
    {},
    some!,
    ...Object.entries(one!).map(([name, value]) => ({ [name]: value })),
    Object.fromEntries(Object.entries(two!).slice(0, 2)),
  ]);

const verdictOf = ({ label }: Row) => (label === null ? 'none' : label === 1 ? 'bot' : 'human');
function levelOf({ label, botScore }: Row) {
  const bin = label === 1 ? 101 : label === -1 ? -1 : botScore === null ? null : Math.round(botScore * 100);
  return bin === null ? null : bin >= 70 ? 'bot' : bin >= 40 ? 'medium' : 'human';
}
function matches(one: Row, f: SessionFilters): boolean {
  const equal = <T>(wanted: T | undefined, value: T | null) => wanted === undefined || wanted === value;
  return (
    (f.startDate === undefined || one.createdAt >= f.startDate.at) &&
    (f.endDate === undefined || one.createdAt < f.endDate.at) &&
    (f.minBotScore === undefined || (one.botScore !== null && one.botScore >= f.minBotScore)) &&
    (f.maxBotScore === undefined || (one.botScore !== null && one.botScore <= f.maxBotScore)) &&
    (f.detectionFlag === undefined || one.detectionFlags.includes(f.detectionFlag)) &&
    equal(f.status, one.status) &&
    equal(f.riskLevel, levelOf(one)) &&
    equal(f.label, verdictOf(one)) &&
    equal(f.userId, one.userId) &&
    equal(f.courseId, one.courseId) &&
    equal(f.fingerprint, one.fingerprint) &&
    equal(f.origin, one.origin) &&
    equal(f.deviceType, one.deviceType)
  );
}
/**
 * The filters that decide what a page examines. The first of them that is set chooses the index; dates limit the range.
 */
const INDEXED = ['userId', 'fingerprint', 'label', 'courseId', 'detectionFlag', 'origin'] as const;
function findTrail(f: SessionFilters): SessionFilters {
  const name = INDEXED.find((one) => f[one] !== undefined && f[one] !== 'none');
  return { startDate: f.startDate, endDate: f.endDate, ...(name ? { [name]: f[name] } : {}) };
}

/** A tenant whose rows are written directly into the tables and remembered here. */
class Rows {
  readonly all = new Map<string, Row>();
  readonly context: DomainContext;
  #count = 0;

  constructor(integrationId: string) {
    const integration = { id: integrationId, plan: 'enterprise', tier: 'enterprise', mediumAt: 40, botAt: 70 } as const;
    this.context = { integration, db: server.service.db, cursorKey: Buffer.alloc(32, 1) };
  }

  async add(specs: Spec[]) {
    const rows = specs.map(({ prefix, ...fields }) => ({ ...fields, id: prefix + String(this.#count++) }));
    for (const one of rows) this.all.set(one.id, one);
    const { sql } = server.database.db;
    await sql.unsafe(
      `with r as (
         insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary,
             device_type, browser, fingerprint, bot_score, score_bin, detection_flags, label, labeled_at, user_id, course_id)
           select $1, id, "createdAt", status, '', origin, '', '', "deviceType", '', fingerprint, "botScore",
                  round("botScore" * 100), "detectionFlags", label, case when label is not null then now() end, "userId", "courseId"
             from json_to_recordset($2::text::json) as r(id text, "createdAt" timestamptz, status text, origin text,
               "deviceType" text, fingerprint text, "botScore" float8, "detectionFlags" text[], label smallint,
               "userId" text, "courseId" text)
           returning *)
       insert into session_flags (integration_id, flag, created_at, session_id)
         select integration_id, unnest(detection_flags), created_at, id from r`,
      [this.context.integration.id, JSON.stringify(rows)],
    );
  }

  async label(nth: number, label: 1 | -1) {
    const one = [...this.all.values()][nth % this.all.size]!;
    one.label = label;
    await server.database.db.sql`update sessions set label = ${label}, labeled_at = now()
      where integration_id = ${this.context.integration.id} and id = ${one.id}`;
  }

  /** Lists the sessions of a filter set after one position and up to another, newest first. */
  list(set: SessionFilters, after: Position | null, upTo: Position | null): Row[] {
    const isBehind = (one: Row, [createdAt, id]: Position) =>
      one.createdAt === createdAt ? compareBytes(one.id, id) < 0 : one.createdAt < createdAt;
    return [...this.all.values()]
      .filter((one) => matches(one, set) && (!after || isBehind(one, after)) && (!upTo || !isBehind(one, upTo)))
      .sort((a, b) => (isBehind(a, [b.createdAt, b.id]) ? 1 : -1));
  }
}

/**
 * Walks a list to its end. Each page has all matches between the end of the page before and its own end. A page ends
 * because it is full, because the budget is spent, or because there is no more.
 */
async function expectWalk(
  rows: Rows,
  set: SessionFilters,
  sizes: number[],
  budget: number,
  between: (page: number) => Promise<void>,
) {
  let after: Position | null = null;
  let cursor: string | undefined;
  const shown = new Set<string>();
  for (let page = 0; ; page++) {
    const pageSize = sizes[page % sizes.length]!;
    const input = { ...set, pageSize, cursor } as ListSessionsInput;
    const { data, pagination }: Awaited<ReturnType<typeof listSessions>> = await listSessions(
      rows.context,
      input,
      budget,
    );
    const walk = { route: 'sessions', filters: set };
    const end: Position | null = pagination.nextCursor
      ? (decodeCursor(rows.context, walk, pagination.nextCursor) as [string, string])
      : null;
    const ids = data.map(({ id }: Session) => id);
    expect([set, page, ids]).toEqual([set, page, rows.list(set, after, end).map(({ id }) => id)]);
    expect(ids.filter((id) => shown.has(id))).toEqual([]);
    for (const id of ids) shown.add(id);
    const examined = rows.list(findTrail(set), after, end).length;
    expect(examined).toBeLessThanOrEqual(budget);
    expect(pagination.hasMore).toBe(end !== null);
    if (!end) return expect(data.length).toBeLessThanOrEqual(pageSize);
    if (data.length < pageSize) expect(examined).toBe(budget);
    else expect(data.length).toBe(pageSize);
    cursor = pagination.nextCursor;
    after = end;
    await between(page);
  }
}
const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 3 });
const budgets = fc.integer({ min: 1, max: 15 });
const specs = fc.array(row, { minLength: 20, maxLength: 50 });
const settings = { numRuns: 10, endOnFailure: true };

describe('a list of sessions under a budget', () => {
  it('misses nothing, repeats nothing and ends, with any filters', async () => {
    await fc.assert(
      fc.asyncProperty(specs, filterSets, sizes, budgets, async (all, sets, pageSizes, budget) => {
        const rows = new Rows((await server.createTenant()).id);
        await rows.add(all);
        for (const set of sets) await expectWalk(rows, set, pageSizes, budget, async () => {});
      }),
      settings,
    );
  });

  it('does so while sessions arrive and are labelled', async () => {
    const incoming = fc.array(row, { minLength: 1, maxLength: 20 });
    const labels = fc.array(fc.tuple(fc.nat(), fc.constantFrom(1 as const, -1 as const)), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        specs,
        incoming,
        labels,
        filterSets,
        sizes,
        budgets,
        async (all, more, given, sets, pageSizes, budget) => {
          const rows = new Rows((await server.createTenant()).id);
          await rows.add(all);
          for (const set of sets)
            await expectWalk(rows, set, pageSizes, budget, async (page) => {
              if (more[page]) await rows.add([more[page]]);
              if (given[page]) await rows.label(...given[page]);
            });
        },
      ),
      settings,
    );
  });

  it('is short if the budget is spent, and continues from there', async () => {
    const rows = new Rows((await server.createTenant()).id);
    const [spec] = fc.sample(row, { numRuns: 1, seed: 1 });
    const base = { ...spec!, prefix: '' as const, status: 'Active' as const };
    await rows.add(TIMES.flatMap((createdAt) => [base, base, base].map((one) => ({ ...one, createdAt }))));
    const input = { status: 'Scored' as const, pageSize: 50 } as ListSessionsInput;
    const cursors: (string | undefined)[] = [undefined];
    for (let page = 0; page < 2; page++) {
      const { data, pagination } = await listSessions(rows.context, { ...input, cursor: cursors[page] }, 4);
      expect([data, pagination.hasMore]).toEqual([[], true]);
      cursors.push(pagination.nextCursor);
    }
    const last = await listSessions(rows.context, { ...input, cursor: cursors[2] }, 4);
    expect(last).toEqual({ data: [], pagination: { hasMore: false, limit: 50 } });
  });
});

describe('the flags of a session', () => {
  const at = (second: number) => `2026-03-01T10:00:0${second}Z`;
  const score = (id: string, second: number, detectionFlags: string[]) =>
    scored(id, 0.5, { scoredAt: at(second), detectionFlags });
  const readIds = async (customer: Customer, flag: string) =>
    (await customer.read(`/v1/sessions?detectionFlag=${flag}`)).map(({ id }: { id: string }) => id);
  const readIndex = async ({ id }: Customer) => {
    const entries = await server.database.db.sql<{ entry: string }[]>`
      select f.session_id || ' ' || f.flag as entry
        from session_flags f
        join sessions s on s.integration_id = f.integration_id and s.id = f.session_id and s.created_at = f.created_at
       where f.integration_id = ${id} order by 1`;
    return entries.map(({ entry }) => entry);
  };

  it('are those of the latest score, in the index and on the session', async () => {
    const customer = await Customer.create(server, [
      started('s', { startedAt: at(0) }),
      started('t', { startedAt: at(0) }),
    ]);
    const steps: [facts: unknown[], flags: string[]][] = [
      [[closed('s', { closedAt: at(1) })], []],
      [[score('s', 2, ['a', 'b'])], ['a', 'b']],
      [[score('s', 2, ['a', 'b'])], ['a', 'b']],
      [[score('s', 1, ['early'])], ['a', 'b']],
      [[score('s', 3, ['b', 'c', 'b'])], ['b', 'c']],
      [
        [score('s', 4, ['x']), score('s', 5, ['c', 'd'])],
        ['c', 'd'],
      ],
      [[score('s', 6, [])], []],
      [[score('s', 7, ['a'])], ['a']],
    ];
    for (const [facts, flags] of steps) {
      await customer.tell(facts);
      for (const flag of ['a', 'b', 'c', 'd', 'x', 'early'])
        expect([facts, flag, await readIds(customer, flag)]).toEqual([facts, flag, flags.includes(flag) ? ['s'] : []]);
      expect(await readIndex(customer)).toEqual(flags.map((flag) => `s ${flag}`));
    }
  });

  it('are in the index for a session that is started and scored in one batch', async () => {
    const facts = [started('s', { startedAt: at(0) }), score('s', 1, ['a', 'a', 'b']), score('s', 2, ['b', 'c'])];
    const customer = await Customer.create(server, facts);
    for (const [flag, ids] of [
      ['a', []],
      ['b', ['s']],
      ['c', ['s']],
    ] as const)
      expect(await readIds(customer, flag)).toEqual(ids);
  });

  it('in batches that share a transaction are those of the last batch', async () => {
    const customer = await Customer.create(
      server,
      ['s', 't'].map((id) => started(id, { startedAt: at(0) })),
    );
    await customer.accept([score('s', 1, ['a'])]);
    await Promise.all([
      server.ingest(customer.id, [score('s', 2, ['b'])]),
      server.ingest(customer.id, [score('s', 3, ['a', 'c'])]),
      server.ingest(customer.id, [score('t', 3, ['a'])]),
    ]);
    expect(await readIds(customer, 'a')).toEqual(['t', 's']);
    expect(await readIds(customer, 'b')).toEqual([]);
    expect(await readIndex(customer)).toEqual(['s a', 's c', 't a']);
  });

  it('that an older process left in the index select nothing', async () => {
    const customer = await Customer.create(server, [started('s', { startedAt: at(0) }), score('s', 1, ['a'])]);
    await server.database.db.sql`insert into session_flags
      select integration_id, 'stale', created_at, id from sessions where integration_id = ${customer.id}`;
    expect(await readIds(customer, 'stale')).toEqual([]);
    await customer.accept([score('s', 2, ['stale'])]);
    expect(await readIds(customer, 'stale')).toEqual(['s']);
  });
});
