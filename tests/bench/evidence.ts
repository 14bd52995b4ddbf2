import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deriveSessionId } from '../../server/collector/tokens';
import { createSecrets } from '../../server/platform/secrets';
import { DRIVEN, moved, ORDINARY, Tab, typed } from '../support/beacon';
import { describeDistribution, type Figure } from './report';

const LIVE_TABS = 50;
const DRIVEN_TABS = 48;
const PERIOD_MS = 2_000;
/** Between two sessions that show the mark. */
const PAUSE_MS = 250;
const READ_EVERY_MS = 10;
const LIMIT_MS = 15_000;
const GOAL_MS = 2_000;

export interface MarkedSite {
  url: string;
  siteKey: string;
  siteId: string;
  key: string;
}

/**
 * Measures how long it takes from a batch that shows a mark of automation to a score of `bot` in what the dashboard reads: the
 * session's evidence. Half of the sessions show it in their first batch, the others later, at any time between two
 * judgements. Meanwhile other tabs are live.
 */
export async function measureEvidence(dataDir: string, site: MarkedSite) {
  const appSecret = Buffer.from(await readFile(join(dataDir, 'app-secret'), 'utf8'), 'base64');
  const { collectorKey } = createSecrets(appSecret);
  let isOver = false;
  const live = Array.from({ length: LIVE_TABS }, async (_, place) => {
    const tab = new Tab(site);
    await sleep((place / LIVE_TABS) * PERIOD_MS);
    for (; !isOver; await sleep(PERIOD_MS)) await tab.send({ ...act(tab), ...(tab.sequence === 0 && START) });
  });
  const measure = async (_: unknown, place: number): Promise<number> => {
    const isFirst = place % 2 === 0;
    await sleep(PERIOD_MS + place * PAUSE_MS);
    const tab = new Tab(site, isFirst ? DRIVEN : ORDINARY);
    if (!isFirst) {
      await tab.send();
      await sleep(PERIOD_MS + Math.random() * PERIOD_MS);
      await tab.send(act(tab));
      await sleep(Math.random() * PERIOD_MS);
    }
    const from = performance.now();
    const { status } = await tab.send(isFirst ? {} : { ...act(tab), e: DRIVEN });
    if (status !== 200) throw new Error(`a batch was answered with ${status}`);
    await waitForBot(site, deriveSessionId(collectorKey, site.siteId, tab.nonce), from);
    return performance.now() - from;
  };
  const times = await Promise.all(Array.from({ length: DRIVEN_TABS }, measure));
  isOver = true;
  await Promise.all(live);
  const first = describeDistribution(times.filter((_, place) => place % 2 === 0));
  const later = describeDistribution(times.filter((_, place) => place % 2 === 1));
  const all = describeDistribution(times);
  const figures: Figure[] = [
    { name: `evidence to score, ${all.count} sessions, p50`, value: all.p50, unit: 'ms' },
    { name: 'evidence to score, p95', value: all.p95, unit: 'ms', goal: { atMost: GOAL_MS } },
  ];
  return { figures, details: { first, later, all } };
}

const START = { e: ORDINARY };
const act = (tab: Tab) => ({ ev: [...moved(tab.now10, 8), ...typed(200, 4)] });

/** Asks for the evidence until its score is that of a bot. */
async function waitForBot({ url, key }: MarkedSite, sessionId: string, from: number): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/v1/sessions/${sessionId}/evidence`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { data } = (await response.json()) as { data?: { botScore: number | null } };
    if ((data?.botScore ?? 0) >= 0.7) return;
    if (performance.now() - from > LIMIT_MS) throw new Error(`${sessionId} is not scored as a bot`);
    await sleep(READ_EVERY_MS);
  }
}
