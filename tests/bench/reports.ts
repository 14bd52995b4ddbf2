import { setTimeout as sleep } from 'node:timers/promises';
import type { ReportFormat } from '../../contract/events';
import { askMeanwhile, type HistoryBench, openHistoryBench, SMALL } from './history-bench';
import { watchMemory } from './memory';
import type { Tenant } from './product-bench';
import { type BenchOptions, describeDistribution, type Figure, type Report } from './report';

/** Rendering and downloading may take this much memory, however long the history is. */
const MEMORY_MB = 150;
/** A document is set in a thread with a memory of its own. */
const DOCUMENT_MB = 400;
const POLL_MS = 50;
const LIMIT_MS = 30 * 60_000;

/** Measures reports of all sessions of a long history: how fast they are made and sent, and how much memory that takes. */
export async function measureReports(options: BenchOptions): Promise<Report> {
  const { say, sessions } = options;
  const bench = await openHistoryBench(options);
  try {
    const figures: Figure[] = [];
    say(`csv of ${SMALL} sessions, to warm up`);
    await render(bench, bench.small, 'csv', 'warm-up');
    for (const format of ['csv', 'json', 'pdf'] as const) {
      say(`${format} of ${sessions} sessions`);
      const id = `bench-${format}`;
      const made = await render(bench, bench.large, format, id);
      const atMost = format === 'pdf' ? DOCUMENT_MB : MEMORY_MB;
      figures.push(
        { name: `${format}: rows a second`, value: made.rows / made.seconds, unit: '1/s' },
        { name: `${format}: more memory than before`, value: made.grownMb, unit: 'MB', goal: { atMost } },
        { name: `${format}: /v1/stats meanwhile, p95`, value: made.statsMs, unit: 'ms' },
        { name: `${format}: size`, value: made.bytes / 1e6, unit: 'MB' },
      );
      if (format === 'pdf') continue;
      const sent = await download(bench, bench.large, id);
      if (sent.bytes !== made.bytes) throw new Error(`${id}: ${sent.bytes} of ${made.bytes} bytes arrived`);
      figures.push(
        { name: `${format}: download`, value: sent.bytes / 1e6 / sent.seconds, unit: 'MB/s' },
        {
          ...{ name: `${format}: download, more memory than before`, value: sent.grownMb, unit: 'MB' },
          goal: { atMost: MEMORY_MB },
        },
      );
    }
    return { figures, notes: makeNotes(sessions) };
  } finally {
    await bench.close();
  }
}

interface JobRow {
  state: string;
  rows: number;
  bytes: number;
  failure: string | null;
}

/** Asks for a report of all sessions, as a row that nobody has told the engine of: its cron finds it within a minute. */
async function render(bench: HistoryBench, tenant: Tenant, format: ReportFormat, id: string) {
  const { sql } = bench;
  await sql`delete from report_jobs where integration_id = ${tenant.id} and id = ${id}`;
  await sql`
    insert into report_jobs (integration_id, id, name, template, format, parameters, start_at, end_at, expires_at, woken_at)
    values (${tenant.id}, ${id}, ${id}, 'sessions', ${format}, '{"days":365}', now() - interval '365 days', now(),
            now() + interval '30 days', now() - interval '1 hour')`;
  const read = async () => {
    const [row] = await sql<JobRow[]>`
      select state, record_count as rows, file_size as bytes, failure from report_jobs
       where integration_id = ${tenant.id} and id = ${id}`;
    return row!;
  };
  const until = performance.now() + LIMIT_MS;
  const waitWhile = async (...states: string[]) => {
    for (;;) {
      const row = await read();
      if (!states.includes(row.state)) return row;
      if (performance.now() > until) throw new Error(`${id} takes too long`);
      await sleep(POLL_MS);
    }
  };
  await waitWhile('Queued');
  const latencies: number[] = [];
  const { result, ...watched } = await watchMemory(bench.pid, () =>
    askMeanwhile(bench, tenant, latencies, () => waitWhile('Running')),
  );
  if (result.state !== 'Ready') throw new Error(`${id} is ${result.state}: ${result.failure}`);
  return { ...result, ...watched, statsMs: describeDistribution(latencies).p95 };
}

async function download(bench: HistoryBench, { key }: Tenant, id: string) {
  const { result: bytes, ...watched } = await watchMemory(bench.pid, async () => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${bench.url}/reports/${id}/download`, { headers });
    if (!response.ok || !response.body) throw new Error(`${id}: ${response.status} ${await response.text()}`);
    let read = 0;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) read += chunk.length;
    return read;
  });
  return { bytes, ...watched };
}

const makeNotes = (sessions: number) => [
  `Reports of all ${sessions} sessions of a tenant, \`npm start\`, one process, files in the embedded Postgres. Memory is that of the`,
  'server alone. Requests for /v1/stats of the same tenant are sent one at a time meanwhile.',
];
