import { expect, it } from 'vitest';
import type { Beacon } from '../../contract/beacon';
import type { Database } from '../../db/client';
import { createCollector } from '../../server/collector/collector';
import type { DirectoryClient } from '../../server/collector/signed-agents';
import type { Ingester } from '../../server/pipeline/ingest';
import { readEnv } from '../../server/platform/env';
import type { Logger } from '../../server/platform/log';
import type { Metrics } from '../../server/platform/metrics';
import { createSecrets } from '../../server/platform/secrets';
import { ORDINARY, PAGE_ORIGIN, PAGE_URL, pageShown } from '../support/beacon';

// How many sessions may wait for their judgement. Postgres would take a minute for so many.

const AT = '2026-11-22T12:00:00.000Z';
/** Sessions of one integration that may wait. */
const MOST_OF_ONE = 20_000;
/** So few that none of them waits for long, which would be an overload too. */
const AT_A_TIME = 50;

/** Answers what the collector asks for a batch: its site, which is called like its integration, and that the batch was stored. */
const query = async (text: string, [first]: unknown[]) => {
  if (text.includes('from sites s'))
    return [{ siteId: first, integrationId: first, isRevoked: false, allowedOrigins: [PAGE_ORIGIN], sealed: null }];
  if (!text.includes('insert into session_batches')) return [];
  const batches = JSON.parse(first as string) as { place: number; sessionId: string; sequence: number }[];
  const stored = { day: '2026-11-22', createdAt: AT, receivedAt: AT, isClosed: false };
  return batches.map(({ place, sessionId, sequence }) => ({
    ...{ place, sessionKey: sessionId, ...stored, isNewSession: sequence === 0 },
  }));
};

it('an integration whose sessions wait begins no more from 20,000 on; those that it has go on, and so do all others', async () => {
  const outcomes: string[] = [];
  const metrics: Pick<Metrics, 'countBatch' | 'countCollectedSession'> = {
    countBatch: (outcome) => void outcomes.push(outcome),
    countCollectedSession: () => {},
  };
  const collector = createCollector({
    env: readEnv({ COLLECT_NEW_PER_MINUTE: '1000000', COLLECT_BATCHES_PER_MINUTE: '1000' }),
    db: { query, transact: async () => {} } as unknown as Database,
    log: {} as Logger,
    secrets: createSecrets(Buffer.alloc(32)),
    ...{
      metrics: metrics as Metrics,
      ingester: {} as Ingester,
      webhookClient: {} as DirectoryClient,
      hasTimers: false,
    },
  });
  let nonces = 0;
  const collect = (site: string, content: Partial<Beacon> = {}) => {
    const s = (nonces++).toString(16).padStart(32, '0');
    const first = { n: 0, e: ORDINARY, p: [PAGE_URL], ev: pageShown(0) };
    const beacon = { v: 1, k: `site_${site.repeat(24)}`, s, d: s.slice(16), c: [0, 0], ...first, ...content };
    return collector.collect({
      ...{ origin: PAGE_ORIGIN, userAgent: '', hasPrivacyControl: false, clientAddress: '192.0.2.1', place: null },
      readBody: async () => Buffer.from(JSON.stringify(beacon)),
    });
  };
  const tab = { s: 'f'.repeat(32), d: 'f'.repeat(16) };
  const begun = await collect('a', tab);
  const token = begun.status === 200 ? begun.answer.token : undefined;
  expect(token).toBeDefined();
  for (let waiting = 1; waiting < MOST_OF_ONE; waiting += AT_A_TIME)
    await Promise.all(Array.from({ length: Math.min(AT_A_TIME, MOST_OF_ONE - waiting) }, () => collect('a')));
  expect([...new Set(outcomes)]).toEqual(['kept']);
  expect(outcomes).toHaveLength(MOST_OF_ONE);

  expect(await collect('a')).toMatchObject({ status: 503 });
  expect(outcomes.at(-1)).toBe('overload');
  expect(await collect('a', { ...tab, t: token as string, n: 1 })).toEqual({ status: 200, answer: {} });
  expect(await collect('b')).toMatchObject({ status: 200 });
});
