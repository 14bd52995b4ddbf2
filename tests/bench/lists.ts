import { courseId, describeHistory, fingerprint, origin, userId } from './history';
import {
  describePair,
  type HistoryBench,
  measurePair,
  openHistoryBench,
  type PairedRead,
  readAnswer,
  SMALL,
} from './history-bench';
import type { Tenant } from './product-bench';
import type { BenchOptions, Figure, Report } from './report';

const AT_MOST = 1.3;
/** Rows per page: few, so that the short history has a thousand pages. */
const PAGE = 10;
const DEEP_PAGE = 1_000;
const LONGEST_PAGE = 100;
/** How many different values a filter uses in turn. */
const VALUES = 50;

/** Measures pages of sessions of a long history, compared to those of a short one. */
export async function measureLists(options: BenchOptions): Promise<Report> {
  const { seconds, say, sessions } = options;
  const bench = await openHistoryBench(options);
  try {
    say(`walk to page ${DEEP_PAGE}`);
    const reads = await listReads(bench);
    const figures: Figure[] = [];
    const details: Record<string, unknown> = {};
    for (const read of reads) {
      say(read.name);
      await expectFullPages(bench, read);
      const pair = await measurePair(bench, read, seconds);
      details[read.name] = pair;
      figures.push(...describePair(read, pair));
    }
    return { figures, details, notes: makeNotes(sessions) };
  } finally {
    await bench.close();
  }
}

async function listReads(bench: HistoryBench): Promise<PairedRead[]> {
  const [smallCursor, largeCursor] = [await findCursor(bench, bench.small), await findCursor(bench, bench.large)];
  const path = (query: string) => `/v1/sessions?pageSize=${PAGE}&${query}`;
  const compare = (name: string, list: (sessions: number) => string[]): PairedRead => ({
    name,
    small: list(SMALL).map(path),
    large: list(bench.sessions).map(path),
    atMost: AT_MOST,
  });
  const spread = (count: number, query: (n: number) => string) =>
    Array.from({ length: Math.min(count, VALUES) }, (_, n) => query(Math.floor((n * count) / Math.min(count, VALUES))));
  const of = (filter: string, value: string) => `${filter}=${encodeURIComponent(value)}`;
  return [
    { ...compare('page 1 of 50', () => ['']), small: ['/v1/sessions'], large: ['/v1/sessions'] },
    compare(`page 1 of ${PAGE}`, () => ['']),
    {
      ...compare(`page ${DEEP_PAGE} of ${PAGE}`, () => []),
      small: [path(`cursor=${smallCursor}`)],
      large: [path(`cursor=${largeCursor}`)],
    },
    compare('userId', (count) => spread(describeHistory(count).users, (n) => of('userId', userId(n)))),
    compare('courseId', (count) => spread(describeHistory(count).courses, (n) => of('courseId', courseId(n)))),
    compare('fingerprint', (count) => {
      const { users, devicesPerUser } = describeHistory(count);
      return spread(users * devicesPerUser, (n) => of('fingerprint', fingerprint(n)));
    }),
    compare('origin', (count) => spread(describeHistory(count).origins, (n) => of('origin', origin(n)))),
    compare('label', () => [of('label', 'bot'), of('label', 'human')]),
    compare('detectionFlag', (count) => describeHistory(count).flags.map((flag) => of('detectionFlag', flag))),
  ];
}

interface Page {
  data: unknown[];
  pagination: { nextCursor?: string };
}

/** Finds the cursor of the deep page. A cursor is not bound to a page size, so the walk there uses long pages. */
async function findCursor(bench: HistoryBench, tenant: Tenant): Promise<string> {
  let cursor = '';
  for (let left = (DEEP_PAGE - 1) * PAGE; left > 0; left -= LONGEST_PAGE) {
    const path = `/v1/sessions?pageSize=${Math.min(left, LONGEST_PAGE)}${cursor && `&cursor=${cursor}`}`;
    cursor = (await readAnswer<Page>(bench, tenant, path)).pagination.nextCursor!;
  }
  return cursor;
}

/** A device has about as many sessions as a page has rows; every other filter matches more. */
const LEAST_ROWS = 2;

async function expectFullPages(bench: HistoryBench, { name, small, large }: PairedRead): Promise<void> {
  for (const [tenant, [path]] of [
    [bench.small, small],
    [bench.large, large],
  ] as const) {
    const { data } = await readAnswer<Page>(bench, tenant, path!);
    if (data.length < LEAST_ROWS) throw new Error(`${name}: ${path} has ${data.length} rows`);
  }
}

const makeNotes = (sessions: number) => [
  `Median latency of one request at a time, \`npm start\`, one process: a tenant with ${sessions} sessions in 90 days, floor`,
  `one with ${SMALL} in the same database, requested alternately. Filters with up to ${VALUES} values in turn, pages of ${PAGE}.`,
];
