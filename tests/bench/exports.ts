import { askMeanwhile, type HistoryBench, openHistoryBench, SMALL } from './history-bench';
import { watchMemory } from './memory';
import type { Tenant } from './product-bench';
import { type BenchOptions, describeDistribution, type Figure, type Report } from './report';

/** An export may take this much memory, however long the list is. */
const MEMORY_MB = 64;

/** Measures exports of all sessions of a long history: how fast they are, how much memory they take, how long others wait. */
export async function measureExports(options: BenchOptions): Promise<Report> {
  const { say, sessions } = options;
  const bench = await openHistoryBench(options);
  try {
    const figures: Figure[] = [];
    for (const format of ['csv', 'ndjson'] as const) {
      say(`${format} of ${SMALL} sessions, to warm up`);
      await readExport(bench, bench.small, format);
      say(`${format} of ${sessions} sessions`);
      const latencies: number[] = [];
      const { result, seconds, grownMb } = await watchMemory(bench.pid, () =>
        askMeanwhile(bench, bench.large, latencies, () => readExport(bench, bench.large, format)),
      );
      if (result.rows !== sessions) throw new Error(`${format}: ${result.rows} of ${sessions} rows arrived`);
      figures.push(
        { name: `${format}: rows a second`, value: result.rows / seconds, unit: '1/s' },
        { name: `${format}: more memory than before`, value: grownMb, unit: 'MB', goal: { atMost: MEMORY_MB } },
        { name: `${format}: /v1/stats meanwhile, p95`, value: describeDistribution(latencies).p95, unit: 'ms' },
        { name: `${format}: size`, value: result.bytes / 1e6, unit: 'MB' },
      );
    }
    return { figures, notes: makeNotes(sessions) };
  } finally {
    await bench.close();
  }
}

const LINE_FEED = 10;

async function readExport({ url }: HistoryBench, { key }: Tenant, format: 'csv' | 'ndjson') {
  const response = await fetch(`${url}/v1/exports/sessions?format=${format}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok || !response.body) throw new Error(`${format}: ${response.status} ${await response.text()}`);
  let bytes = 0;
  let rows = format === 'csv' ? -1 : 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === LINE_FEED) rows++;
  }
  return { bytes, rows };
}

const makeNotes = (sessions: number) => [
  `Exports of all ${sessions} sessions of a tenant, \`npm start\`, one process, read by a client on the same machine. Memory is that of`,
  'the server alone. Requests for /v1/stats of the same tenant are sent one at a time meanwhile.',
];
