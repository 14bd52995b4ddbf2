import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { Customer, pathOf } from '../support/customer';
import { closed, correlated, happened, scored, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';
import {
  AGENTS,
  canvasPage,
  compareBytes,
  flagsOf,
  type ModelSession,
  newestFirst,
  pageAt,
  scoreOf,
  statusOf,
  TenantModel,
  userOf,
} from '../support/tenant-model';
import { expectWalk, withQuery } from '../support/walks';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Few instants, so that many sessions share one. */
const TIMES = [
  '2026-03-01T10:00:00.000Z',
  '2026-03-01T10:00:00.001Z',
  '2026-03-01T23:59:59.999Z',
  '2026-03-02T00:00:00.000Z',
];
const ORIGINS = ['https://lms.example.edu', 'https://lms.example.edu:8443', 'http://lms.example.edu'];
const PLACES = ORIGINS.flatMap((origin) => [pageAt(origin), canvasPage(origin, 42), canvasPage(origin, 7)]);
const COURSE_IDS = PLACES.flatMap(({ course }) => (course ? [course.id] : []));
const DEVICES = ['fp-1', 'FP-1', '😀'];
const USERS = ['u', 'U', 'a/b', '\uffee', '😀', 'u2'];
const FLAGS = ['webdriver', 'no-scroll', 'WebDriver'];
const ID_PREFIXES = ['', 'a', 'Z', 'é', '\uffee', '😀', '"\\', '%2F/'];

const session = fc.record({
  prefix: fc.constantFrom(...ID_PREFIXES),
  startedAt: fc.constantFrom(...TIMES),
  place: fc.constantFrom(...PLACES),
  agent: fc.constantFrom(...AGENTS),
  fingerprint: fc.option(fc.constantFrom(...DEVICES)),
  botScore: fc.option(fc.constantFrom(0, 0.29, 0.4, 0.69999, 0.7, 0.95, 1)),
  flags: fc.uniqueArray(fc.constantFrom(...FLAGS), { maxLength: 2 }),
  isClosed: fc.boolean(),
  userId: fc.option(fc.constantFrom(...USERS), { freq: 2 }),
});
type SessionSpec = typeof session extends fc.Arbitrary<infer T> ? T : never;

/** A customer with its model. Both get the same facts. */
class ModelledCustomer {
  readonly model = new TenantModel(PLACES);
  readonly customer: Customer;
  #count = 0;

  constructor(customer: Customer) {
    this.customer = customer;
  }

  async send(specs: SessionSpec[]) {
    const facts = specs.flatMap((spec) => {
      const id = `${spec.prefix}${String(this.#count++).padStart(4, '0')}`;
      const later = new Date(Date.parse(spec.startedAt) + 5_000).toISOString();
      return [
        started(id, {
          startedAt: spec.startedAt,
          pageUrl: spec.place.pageUrl,
          userAgent: spec.agent.userAgent,
          deviceFingerprint: spec.fingerprint,
        }),
        ...(spec.isClosed ? [closed(id, { closedAt: later })] : []),
        ...(spec.botScore === null ? [] : [scored(id, spec.botScore, { detectionFlags: spec.flags, scoredAt: later })]),
        ...(spec.userId === null ? [] : [correlated(id, spec.userId, { correlatedAt: later })]),
      ];
    });
    for (const fact of facts) this.model.apply(fact);
    if (facts.length > 0) await this.customer.accept(facts);
  }

  async label(nth: number, verdict: 'bot' | 'human') {
    const one = [...this.model.sessions.values()][nth % this.model.sessions.size]!;
    one.label = verdict;
    await this.customer.label(one.id, { verdict });
  }
}

/** A word of a filter in random case. */
const word = (...words: string[]) =>
  fc
    .tuple(fc.constantFrom(...words), fc.constantFrom('same', 'upper', 'lower'))
    .map(([one, as]) => (as === 'upper' ? one.toUpperCase() : as === 'lower' ? one.toLowerCase() : one));

const filters = fc.record(
  {
    startDate: fc.constantFrom(...TIMES, '2026-03-01', '2026-03-02', '2026-03-01T12:00:00.001+02:00'),
    endDate: fc.constantFrom(...TIMES.slice(1), '2026-03-02', '2026-03-02T01:00:00+01:00', '2026-03-02T00:00:00.001Z'),
    status: word('Active', 'Closed', 'Scored', 'Failed'),
    minBotScore: fc.constantFrom('0', '0.4', '0.69999', '0.7'),
    maxBotScore: fc.constantFrom('0.7', '0.95', '1', '1.0'),
    riskLevel: word('bot', 'medium', 'human'),
    detectionFlag: fc.constantFrom(...FLAGS, 'none'),
    label: word('bot', 'human', 'none'),
    userId: fc.constantFrom(...USERS, 'nobody'),
    courseId: fc.constantFrom(...COURSE_IDS, '42'),
    fingerprint: fc.constantFrom(...DEVICES, 'fp-9'),
    origin: fc.constantFrom(...ORIGINS, 'HTTPS://LMS.example.edu:443/x', 'lms.example.edu'),
    deviceType: word('desktop', 'mobile', 'tablet'),
  },
  { requiredKeys: [] },
);
type Filters = typeof filters extends fc.Arbitrary<infer T> ? T : never;

const dayEnd = (date: string) => new Date(Date.parse(date) + (date.length === 10 ? 86_400_000 : 0)).toISOString();

/** Whether a filter set selects a session. */
function matches(model: TenantModel, one: ModelSession, f: Filters): boolean {
  const botScore = scoreOf(one);
  const same = (filter: string | undefined, value: string | null) =>
    filter === undefined || filter.toLowerCase() === value?.toLowerCase();
  const equal = (filter: string | undefined, value: string | null) => filter === undefined || filter === value;
  return (
    (f.startDate === undefined || one.createdAt >= new Date(f.startDate).toISOString()) &&
    (f.endDate === undefined || one.createdAt < dayEnd(f.endDate)) &&
    (f.minBotScore === undefined || (botScore !== null && botScore >= Number(f.minBotScore))) &&
    (f.maxBotScore === undefined || (botScore !== null && botScore <= Number(f.maxBotScore))) &&
    (f.detectionFlag === undefined || flagsOf(one).includes(f.detectionFlag)) &&
    same(f.status, statusOf(one)) &&
    same(f.riskLevel, model.riskLevel(one)) &&
    same(f.label, one.label ?? 'none') &&
    same(f.deviceType, one.agent.deviceType) &&
    equal(f.userId, userOf(one)) &&
    equal(f.courseId, one.place.course?.id ?? null) &&
    equal(f.fingerprint, one.fingerprint) &&
    equal(f.origin?.startsWith('HTTPS') ? ORIGINS[0] : f.origin, one.place.origin)
  );
}

const isReversed = ({ startDate, endDate }: Filters) =>
  startDate !== undefined && endDate !== undefined && new Date(startDate).toISOString() >= dayEnd(endDate);
const filterSet = filters.filter((f) => !isReversed(f));
/** Filter sets, and each filter alone, because one selects more sessions than several do. */
const filterSets = fc
  .tuple(fc.array(filterSet, { minLength: 3, maxLength: 3 }), filterSet)
  .map(([sets, other]): Filters[] => [
    {},
    ...sets,
    ...Object.entries(other).map(([name, value]) => ({ [name]: value })),
  ])
  .map((sets) => sets.filter((f) => Object.keys(f).length < 6));
const pageSizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 });
const inserts = fc.array(fc.array(session, { maxLength: 3 }), { minLength: 1, maxLength: 5 });
const labels = fc.array(fc.tuple(fc.nat(), fc.constantFrom('bot' as const, 'human' as const)), { maxLength: 10 });

/** Whether a session comes after the last shown item. */
const isBehind = (one: ModelSession, last: { createdAt: string; id: string } | null) =>
  last === null || newestFirst(one, last) > 0;
const idOf = ({ id }: { id: string }) => id;
const sortedIds = (sessions: ModelSession[]) => sessions.sort(newestFirst).map(idOf);

async function createModelled(specs: SessionSpec[], labelled: [number, 'bot' | 'human'][]): Promise<ModelledCustomer> {
  const customer = await Customer.create(server);
  await customer.switchOffFindings();
  const modelled = new ModelledCustomer(customer);
  await modelled.send(specs);
  for (const [nth, verdict] of labelled) await modelled.label(nth, verdict);
  return modelled;
}

const sessions = fc.array(session, { minLength: 30, maxLength: 60 });
const settings = { numRuns: 8, endOnFailure: true };

describe('a walk over sessions', () => {
  it('shows what a filter set selects, newest first, once each, with any page sizes', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, labels, filterSets, pageSizes, async (specs, labelled, sets, sizes) => {
        const { customer, model } = await createModelled(specs, labelled);
        for (const set of sets) {
          const expectAfter = (last: { createdAt: string; id: string } | null) =>
            sortedIds([...model.sessions.values()].filter((one) => matches(model, one, set) && isBehind(one, last)));
          await expectWalk(customer, {
            path: withQuery('/v1/sessions', set),
            pageSizes: sizes,
            keyOf: idOf,
            expectAfter,
          });
        }
      }),
      settings,
    );
  });

  it('neither skips nor repeats while sessions arrive and are labelled', async () => {
    const immutable = filterSets.map((sets) =>
      sets.map(({ label: _, riskLevel: __, ...set }): Filters => set).slice(0, 5),
    );
    await fc.assert(
      fc.asyncProperty(
        sessions,
        inserts,
        labels,
        immutable,
        pageSizes,
        async (specs, incoming, relabelled, sets, sizes) => {
          const modelled = await createModelled(specs, []);
          const { customer, model } = modelled;
          for (const set of sets)
            await expectWalk(customer, {
              path: withQuery('/v1/sessions', set),
              pageSizes: sizes,
              keyOf: idOf,
              expectAfter: (last) =>
                sortedIds(
                  [...model.sessions.values()].filter((one) => matches(model, one, set) && isBehind(one, last)),
                ),
              async between(page) {
                // A walk does not end while more sessions arrive ahead of it than it shows.
                if (page < 20) await modelled.send(incoming[page % incoming.length]!);
                const [nth, verdict] = relabelled[page] ?? [];
                if (nth !== undefined) await modelled.label(nth, verdict!);
              },
            });
        },
      ),
      settings,
    );
  });

  it('of a user shows their sessions in the same order, while more arrive', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, inserts, pageSizes, async (specs, incoming, sizes) => {
        const modelled = await createModelled(specs, []);
        const { customer, model } = modelled;
        for (const id of new Set([...model.sessions.values()].map(userOf).filter((one) => one !== null)))
          await expectWalk(customer, {
            path: `${pathOf('v1', 'users', id)}/sessions`,
            pageSizes: sizes,
            keyOf: idOf,
            expectAfter: (last) =>
              sortedIds([...model.sessions.values()].filter((one) => userOf(one) === id && isBehind(one, last))),
            between: (page) => modelled.send((incoming[page] ?? []).map((spec) => ({ ...spec, userId: id }))),
          });
      }),
      settings,
    );
  });
});

describe('a walk by id', () => {
  const ids = fc.uniqueArray(
    fc.tuple(fc.constantFrom(...ID_PREFIXES), fc.nat({ max: 99 })).map(([prefix, n]) => `${prefix}${n}`),
    { minLength: 1, maxLength: 40 },
  );

  it('over users and over courses shows each once, in bytewise order, while more arrive', async () => {
    await fc.assert(
      fc.asyncProperty(ids, ids, pageSizes, async (known, incoming, sizes) => {
        const customer = await Customer.create(server);
        const users = new Set<string>();
        const courses = new Set<string>();
        let count = 0;
        async function send(names: string[]) {
          const facts = names.flatMap((name) => {
            const { pageUrl, course } = canvasPage('https://lms.example.edu', ++count);
            users.add(name);
            courses.add(course!.id);
            return [started(`s-${count}`, { pageUrl }), correlated(`s-${count}`, name)];
          });
          if (facts.length > 0) await customer.accept(facts);
        }
        await send(known);
        for (const [path, all] of [
          ['/v1/users', users],
          ['/v1/courses', courses],
        ] as const)
          await expectWalk(customer, {
            path,
            pageSizes: sizes,
            keyOf: idOf,
            expectAfter: (last) => [...all].filter((id) => !last || compareBytes(id, last.id) > 0).sort(compareBytes),
            between: (page) => send(incoming.slice(page * 2, page * 2 + 2)),
          });
      }),
      settings,
    );
  });

  it('over events shows each once by sequence, whatever the gaps, while more arrive', async () => {
    const sequences = fc.uniqueArray(fc.oneof(fc.nat({ max: 60 }), fc.nat({ max: 2_147_483_647 })), {
      minLength: 1,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(sequences, sequences, pageSizes, async (known, incoming, sizes) => {
        const customer = await Customer.create(server, [started('s'), started('t')]);
        const all = new Set<number>();
        const send = async (list: number[]) => {
          const events = list.filter((sequence) => !all.has(sequence)).map((sequence) => ({ sequence }));
          for (const { sequence } of events) all.add(sequence);
          if (events.length > 0) await customer.accept([happened('s', events), happened('t', events)]);
        };
        await send(known);
        await expectWalk(customer, {
          path: '/v1/sessions/s/events',
          pageSizes: sizes,
          keyOf: ({ sequence }) => sequence,
          expectAfter: (last) => [...all].filter((one) => !last || one > last.sequence).sort((a, b) => a - b),
          between: (page) => send(incoming.slice(page * 3, page * 3 + 3)),
        });
      }),
      settings,
    );
  });
});

describe('pageSize', () => {
  const ROUTES = ['/v1/sessions', '/v1/sessions/s-0/events', '/v1/users', '/v1/users/u-0/sessions', '/v1/courses'];
  const NUMBERS = Array.from({ length: 60 }, (_, n) => n);

  it.each(ROUTES)('of %s is 1 to 100, by default 50, and any other value is refused by name', async (path) => {
    const customer = await Customer.create(server, [started('s-0'), correlated('s-0', 'u-0')]);
    for (const pageSize of ['0', '101', '', 'x', '1.5', '-1', '1e1'])
      expectError(await customer.get(withQuery(path, { pageSize })), 'INVALID_REQUEST', 'pageSize');
    for (const pageSize of ['1', '100']) {
      const { body } = await customer.get(withQuery(path, { pageSize }));
      expect(body.pagination).toEqual({ hasMore: false, limit: Number(pageSize) });
    }
    expect((await customer.get(path)).body.pagination.limit).toBe(50);
  });

  it.each(ROUTES)('of %s is cut to 50 on the tier free', async (path) => {
    const facts = NUMBERS.flatMap((n) => [
      started(`s-${n}`, { pageUrl: `https://lms.example.edu/courses/${n}` }),
      correlated(`s-${n}`, path.includes('users/') ? 'u-0' : `u-${n}`),
    ]);
    const events = happened(
      's-0',
      NUMBERS.map((sequence) => ({ sequence })),
    );
    const customer = await Customer.create(server, [...facts, events], 'free');
    const first = (await customer.get(withQuery(path, { pageSize: '100' }))).body;
    expect([first.data.length, first.pagination.limit, first.pagination.hasMore]).toEqual([50, 50, true]);
    const cursor = first.pagination.nextCursor;
    const rest = (await customer.get(withQuery(path, { pageSize: '51', cursor }))).body;
    expect([rest.data.length, rest.pagination]).toEqual([10, { hasMore: false, limit: 50 }]);
  });
});
