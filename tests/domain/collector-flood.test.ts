import { afterAll, beforeAll, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { createCollector } from '../../server/collector/collector';
import type { DirectoryClient } from '../../server/collector/signed-agents';
import { createIntegration } from '../../server/domain/integrations';
import type { Ingester } from '../../server/pipeline/ingest';
import { readEnv } from '../../server/platform/env';
import type { Logger } from '../../server/platform/log';
import type { Metrics } from '../../server/platform/metrics';
import { createSecrets } from '../../server/platform/secrets';
import { openPageSite, PAGE_ORIGIN, Tab } from '../support/beacon';
import { createTestDatabase, type TestDatabase } from '../support/database';

// How many sessions may wait for their judgement, in a process that judges none.

/** Sessions of one integration that may wait. */
const MOST_OF_ONE = 20_000;
/** So few that none of them waits for long, which would be an overload too. */
const AT_A_TIME = 200;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('an integration whose sessions wait begins no more from 20,000 on; those that it has go on, and so do all others', async () => {
  const { db } = database;
  const outcomes: string[] = [];
  const metrics: Pick<Metrics, 'countBatch' | 'countCollectedSession'> = {
    countBatch: (outcome) => void outcomes.push(outcome),
    countCollectedSession: () => {},
  };
  const collector = createCollector({
    env: readEnv({ COLLECT_NEW_PER_MINUTE: '1000000', COLLECT_BATCHES_PER_MINUTE: '1000' }),
    ...{ db, log: {} as Logger, secrets: createSecrets(Buffer.alloc(32)), metrics: metrics as Metrics },
    ...{ ingester: {} as Ingester, webhookClient: {} as DirectoryClient, hasTimers: false },
  });
  const open = async (name: string) => {
    const { id } = await createIntegration(asOperator(db), { name, plan: 'enterprise', allowedOrigins: [] });
    return openPageSite({ db, url: '' }, { id, key: '' });
  };
  const [flooded, other] = [await open('flooded'), await open('other')];
  const send = (tab: Tab) =>
    collector.collect({
      ...{ origin: PAGE_ORIGIN, userAgent: '', hasPrivacyControl: false, clientAddress: '192.0.2.1', place: null },
      readBody: async () => Buffer.from(JSON.stringify(tab.make())),
    });
  const tab = new Tab(flooded);
  const begun = await send(tab);
  tab.token = begun.status === 200 ? begun.answer.token : undefined;
  expect(tab.token).toBeDefined();
  for (let waiting = 1; waiting < MOST_OF_ONE; waiting += AT_A_TIME)
    await Promise.all(Array.from({ length: Math.min(AT_A_TIME, MOST_OF_ONE - waiting) }, () => send(new Tab(flooded))));
  expect([...new Set(outcomes)]).toEqual(['kept']);
  expect(outcomes).toHaveLength(MOST_OF_ONE);

  expect(await send(new Tab(flooded))).toMatchObject({ status: 503 });
  expect(outcomes.at(-1)).toBe('overload');
  expect(await send(tab)).toEqual({ status: 200, answer: {} });
  expect(await send(new Tab(other))).toMatchObject({ status: 200 });
});
