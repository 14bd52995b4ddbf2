import { foldSessionDeltas, LOCK_FOLD } from '../../server/domain/rollups';
import { transactOn } from './history';
import { describePair, type HistoryBench, LONG, openHistoryBench, type Pair, SMALL } from './history-bench';
import { type BenchOptions, describeDistribution, type Figure, type Report } from './report';

/** As many as a server counts before it starts a fold. */
const CHANGED = 4_000;
const RUNS = 5;
const AT_MOST_MS = 1_000;

/** Measures the fold of changed sessions over a long history, compared to a short one (docs/counts.md). */
export async function measureFold(options: BenchOptions): Promise<Report> {
  const { say, sessions } = options;
  if (sessions < CHANGED) throw new Error(`--sessions: must be at least ${CHANGED}`);
  const bench = await openHistoryBench(options);
  try {
    const figures: Figure[] = [];
    const details: Record<string, Pair> = {};
    for (const [choice, stepOf] of CHOICES) {
      say(choice);
      const small: number[] = [];
      const large: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        small.push(await timeFold(bench, bench.small.id, listChanged(SMALL, stepOf(SMALL), run)));
        large.push(await timeFold(bench, bench.large.id, listChanged(sessions, stepOf(sessions), run)));
      }
      const pair = { small: describeDistribution(small), large: describeDistribution(large) };
      details[choice] = pair;
      const described = describePair({ name: `fold of ${CHANGED} changed sessions, ${choice}` }, pair);
      figures.push(...described.map((one) => (sessions < LONG ? one : { ...one, goal: { atMost: AT_MOST_MS } })));
    }
    return { figures, details, notes: makeNotes(sessions) };
  } finally {
    await bench.close();
  }
}

/** Which sessions change: how far they lie apart. */
const CHOICES: [choice: string, stepOf: (sessions: number) => number][] = [
  ['spread over the history', (sessions) => Math.floor(sessions / CHANGED)],
  ['the newest', () => 1],
];

const listChanged = (sessions: number, step: number, run: number) =>
  Array.from({ length: CHANGED }, (_, n) => `ses-${String(sessions - 1 - n * step - (run % step)).padStart(9, '0')}`);

/** Labels sessions as bots, or those as human that were, and answers in ms how long the fold of that takes. */
async function timeFold({ sql }: HistoryBench, integrationId: string, ids: string[]): Promise<number> {
  for (;;) {
    // The server folds each minute. It cannot begin before these changes are there.
    await sql.begin(async (transaction) => {
      await transaction.unsafe(LOCK_FOLD);
      await transaction.unsafe(RELABEL, [integrationId, ids]);
    });
    const from = performance.now();
    const folded = await foldSessionDeltas({ transact: transactOn(sql) });
    const ms = performance.now() - from;
    if (folded === 2 * CHANGED) return ms;
  }
}

/** A change of the label changes the bin, and so every count of the session. */
const RELABEL = `
  update sessions set label = case when label = 1 then -1 else 1 end, labeled_at = now()
   where integration_id = $1 and id = any($2::text[])`;

const makeNotes = (sessions: number) => [
  `Median of ${RUNS} folds of a tenant with ${sessions} sessions in 90 days, floor one with ${SMALL} in the same database, in turn, while a`,
  `server runs that is idle. The goal is for ${LONG} sessions.`,
];
