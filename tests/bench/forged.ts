import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_BEACON_BYTES } from '../../contract/beacon';
import { moved, ORDINARY, PAGE_URL, pageShown } from '../support/beacon';
import { NETWORKS, startFlooder } from './flooder';
import { readResidentMemory } from './memory';
import type { ProductBench } from './product-bench';
import type { Figure } from './report';

const BEACONS = 100_000;
const FLOOD_MS = 30_000;
const CONNECTIONS = 128;
const SETTLE_MS = 10_000;
const SAMPLE_MS = 250;
/** The default of COLLECT_NEW_PER_MINUTE. */
const NEW_PER_MINUTE = 6_000;
/** A flood of half a minute touches at most two minutes. */
const MINUTES = 2;
/** Half of what `npm start` allows for the heap. */
const MEMORY_GOAL_MB = 512;

/**
 * Sends forged beacons of all kinds at a product with its default limits, and watches its memory: sessions that nobody began,
 * invented tokens, and bodies of 64 KiB that are no beacons or whose events are invented.
 */
export async function measureForged(bench: ProductBench, siteKey: string, headers: string[]) {
  const { pid, url } = bench.product;
  const before = readResidentMemory(pid);
  const flooder = await startFlooder();
  let most = before ?? 0;
  const sampler = setInterval(() => {
    most = Math.max(most, readResidentMemory(pid) ?? 0);
  }, SAMPLE_MS);
  try {
    const { sent, statuses } = await flooder.flood({
      ...{ url: `${url}/collect`, templates: makeTemplates(siteKey), connections: CONNECTIONS },
      ...{ perSecond: (BEACONS * 1_000) / FLOOD_MS, ms: FLOOD_MS },
      headers: [...headers, 'x-forwarded-for: 198.51.‹network›.7'],
    });
    await sleep(SETTLE_MS);
    const after = readResidentMemory(pid);
    const rows = await countRows(bench);
    const known = [200, 204, 400, 503].reduce((sum, status) => sum + (statuses[status] ?? 0), 0);
    const bound = NEW_PER_MINUTE * MINUTES * NETWORKS;
    const figures: Figure[] = [
      { name: 'forged beacons', value: sent, unit: '' },
      { name: 'forged: other statuses than 200, 204, 400, 503', value: sent - known, unit: '', goal: { atMost: 0 } },
      { name: 'forged: sessions kept', value: rows.sessions, unit: '', goal: { atMost: bound } },
      { name: 'forged: batches kept', value: rows.batches, unit: '', goal: { atMost: bound } },
    ];
    if (before !== null && after !== null)
      figures.push(
        { name: 'forged: resident memory before', value: before, unit: 'MB' },
        { name: 'forged: at most during the flood', value: most, unit: 'MB', goal: { atMost: MEMORY_GOAL_MB } },
        { name: `forged: ${SETTLE_MS / 1_000} s after it`, value: after, unit: 'MB' },
      );
    return { figures, details: { sent, statuses, rows, before, most, after } };
  } finally {
    clearInterval(sampler);
    flooder.close();
  }
}

async function countRows({ sql }: ProductBench) {
  const [row] = await sql<{ sessions: number; batches: number }[]>`
    select (select count(*)::int from collected_sessions) as sessions,
           (select count(*)::int from session_batches) + (select coalesce(sum(batches), 0)::int from session_traces) as batches`;
  return row!;
}

/** One of each kind. */
function makeTemplates(siteKey: string): string[] {
  const beacon = { v: 1, k: siteKey, s: '‹nonce›', d: '‹document›', n: 0, c: [1_000, Date.now()], ev: pageShown(0) };
  const start = JSON.stringify({ ...beacon, e: ORDINARY, p: [PAGE_URL] });
  const forgedToken = JSON.stringify({
    ...beacon,
    n: 3,
    t: `${Math.floor(Date.now() / 1_000).toString(36)}.${randomBytes(18).toString('base64url')}`,
  });
  const long = JSON.stringify({ ...beacon, e: ORDINARY, p: [PAGE_URL], ev: [...pageShown(0), ...moved(10, 4_990)] });
  const noBeacon = JSON.stringify({ ...beacon, ev: 'x'.repeat(MAX_BEACON_BYTES - 400) });
  return [start, forgedToken, long, start, forgedToken, noBeacon];
}
