import { NEXT_TO_SESSIONS } from '../support/volume';
import { courseId, fingerprint, userId } from './history';
import { type HistoryBench, measurePair, openHistoryBench, type PairedRead, SMALL } from './history-bench';
import { runOperator, type Tenant } from './product-bench';
import type { BenchOptions, Figure, Report } from './report';

const AT_MOST_MS = 60;
const ACCOUNT = { email: 'bench@example.com', password: 'correct horse battery' };
/** A session of both histories, in the middle of the shorter one. */
const SESSION = 'ses-000005001';
const [USER, COURSE, DEVICE] = [userId(7), courseId(7), fingerprint(7)];

/** The pages of the dashboard with what their server component reads. */
const PAGES = [
  ...['/overview', '/review?window=today', '/review?window=7d', '/review?queue=sample'],
  ...['/sessions', '/sessions?riskLevel=bot', '/sessions?riskLevel=bot&range=7d', '/sessions?label=bot'],
  ...[`/sessions?userId=${USER}`, `/sessions?fingerprint=${DEVICE}`, '/sessions?detectionFlag=webdriver'],
  ...[
    '/sessions?sort=highestScore',
    '/sessions?sort=highestScore&detectionFlag=webdriver',
    '/sessions?minBotScore=0.9',
  ],
  ...[`/sessions/${SESSION}`, `/sessions/${SESSION}/evidence`],
  ...['/users', '/users?sort=lastSeen', '/users?sort=name', `/users/${USER}`],
  ...['/courses', '/courses?sort=sessions', `/courses/${COURSE}`],
  ...['/anomalies', '/anomalies?status=Open', '/anomalies?status=Resolved', `/anomalies?userId=${USER}`],
  ...['/alerts', '/alerts?tab=rules', '/alerts/rules/new', '/reports', '/usage', '/setup', '/documents'],
  ...['/webhooks', '/webhooks/new', '/webhooks/whk-1', '/webhooks/whk-1?tab=skipped'],
  ...['api-keys', 'sites', 'thresholds', 'findings', 'integration', 'staff', 'audit'].map(
    (tab) => `/settings?tab=${tab}`,
  ),
];

/** What a page asks for in the browser, after it is there or every few seconds. */
const CALLS: [procedure: string, input?: object][] = [
  ['sessions.getContext', { sessionId: SESSION }],
  ['sessions.getHistory', { sessionId: SESSION }],
  ['sessions.getTimeline', { sessionId: SESSION }],
  ['sessions.listPages', { sessionId: SESSION }],
  ['sessions.count', { origin: 'https://lms1.example.edu' }],
  ['users.listDevices', { userId: USER }],
  ['errorRates.get'],
  ['review.listVerdicts', { since: new Date(Date.now() - 60_000).toISOString() }],
  ['webhookStates.count'],
  ['search.find', { query: USER }],
  // Each user of the history has this name.
  ['search.find', { query: 'some' }],
  ['search.find', { query: 'somebody course' }],
];

/** Measures the server's time for each page of the dashboard, and for what pages ask for later, in a long history. */
export async function measureDashboard(options: BenchOptions): Promise<Report> {
  const bench = await openHistoryBench(options);
  try {
    await addRest(bench);
    const cookie = await signIn(bench, options);
    const figures: Figure[] = [];
    const details: Record<string, unknown> = {};
    const reads = listReads(bench, cookie);
    // The process compiles what renders pages while it serves the first hundred.
    await measurePair(bench, reads[0]!, options.seconds);
    for (const read of reads) {
      options.say(read.name);
      const pair = await measurePair(bench, read, options.seconds);
      details[read.name] = pair;
      figures.push({
        ...{ name: read.name, value: pair.large.p50, unit: 'ms', floor: pair.small.p50 },
        goal: { atMost: AT_MOST_MS },
      });
    }
    return { figures, details, notes: makeNotes(options.sessions) };
  } finally {
    await bench.close();
  }
}

/** Adds what a history has not: anomalies, usage, webhooks and deliveries. */
async function addRest({ sql, small, large }: HistoryBench): Promise<void> {
  for (const { id } of [small, large]) {
    const [kept] = await sql`select 1 from webhook_subscriptions where integration_id = ${id} limit 1`;
    if (kept) continue;
    await sql.begin(async (tx) => {
      for (const statement of NEXT_TO_SESSIONS) await tx.unsafe(statement, [id]);
    });
  }
  await sql`vacuum analyze`;
}

/** Answers the cookie of an account. */
async function signIn({ url, dataDir }: HistoryBench, { say }: BenchOptions): Promise<string> {
  const { email, password } = ACCOUNT;
  await runOperator(dataDir, 'staff', 'create', '--email', email, '--role', 'admin', '--password', password).catch(() =>
    say('the account of an earlier run is used'),
  );
  const response = await fetch(`${url}/api/auth/sign-in`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify(ACCOUNT),
  });
  if (!response.ok) throw new Error(`the sign-in answered ${response.status}: ${await response.text()}`);
  return response.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
}

function listReads({ small, large }: HistoryBench, cookie: string): PairedRead[] {
  const headersOf = ({ id }: Tenant) => [`cookie: ${cookie}`, `x-integration-id: ${id}`];
  const pages = PAGES.map((path): PairedRead => {
    const pathOf = ({ id }: Tenant) => [`/dashboard/${id}${path}`];
    return { name: path, small: pathOf(small), large: pathOf(large), headersOf };
  });
  const calls = CALLS.map(([procedure, input]): PairedRead => {
    const query = input ? `?input=${encodeURIComponent(JSON.stringify(input))}` : '';
    const paths = [`/api/trpc/${procedure}${query}`];
    const told = input ? ` ${JSON.stringify(input)}` : '';
    return { name: `${procedure}${told}`.slice(0, 60), small: paths, large: paths, headersOf };
  });
  return [...pages, ...calls];
}

const makeNotes = (sessions: number) => [
  `Median latency of one request at a time, \`npm start\`, one process: a tenant with ${sessions} sessions in 90 days, floor`,
  `one with ${SMALL} in the same database, requested alternately. A page is its HTML with all that its server component reads.`,
];
