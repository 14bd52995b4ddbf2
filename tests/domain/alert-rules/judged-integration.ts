import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createAlertRuleInput } from '../../../contract/alert-rules';
import { asOperator } from '../../../server/audit/acts';
import { createAlertRule } from '../../../server/domain/alert-rules';
import { findCourse } from '../../../server/domain/courses';
import { createIntegration } from '../../../server/domain/integrations';
import { readSeries } from '../../../server/findings/alert-counts';
import { findFirings } from '../../../server/findings/alert-decision';
import { createAlertRules } from '../../../server/findings/alert-rules';
import { type Fact, factSchema } from '../../../server/pipeline/facts';
import { createIngester, type Ingester } from '../../../server/pipeline/ingest';
import { createLogger } from '../../../server/platform/log';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import * as facts from '../../support/facts';

// One database, and a new integration for each test. Time is passed in.

const log = createLogger({ LOG_LEVEL: 'silent', LOG_FORMAT: 'json' });
export const MINUTE_MS = 60_000;
/** The minute from which the tests count, some hours ago: facts may not be in the future. */
export const BASE_MS = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 3 * 60 * MINUTE_MS;
/** The instant so many minutes after the base, or before it. */
export const at = (minutes: number) => new Date(BASE_MS + minutes * MINUTE_MS).toISOString();

export const openIngester = (db: TestDatabase['db']) =>
  createIngester({
    ...{ db, log, firstDelayMs: 0, publicUrl: null, erasureKey: Buffer.alloc(32), onCommitted: () => {} },
    // No subscription waits for these alerts.
    publisher: { publish: () => {}, publishLater: () => {}, republish: async () => {}, flush: async () => {} },
    handover: { reserve: () => false, start: () => {}, release: () => {}, leaseMs: 0, leaseOwner: null },
  });

export const openRules = (db: TestDatabase['db'], ingester: Ingester) =>
  createAlertRules({ db, log, ingester, publicUrl: 'https://d.example.com', hasTimers: false });

export let database: TestDatabase;
export let ingester: Ingester;
export let rules: ReturnType<typeof openRules>;
export let integrationId: string;

export function shareDatabase(): void {
  beforeAll(async () => {
    database = await createTestDatabase();
    ingester = openIngester(database.db);
    rules = openRules(database.db, ingester);
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    switchTo(await openIntegration('own'));
  });
}

export const openIntegration = async (name: string) =>
  (await createIntegration(asOperator(database.db), { name, plan: 'pro', allowedOrigins: [] })).id;

/** Lets rules, sessions and judgements be those of another integration, until the test ends. */
export function switchTo(id: string): void {
  integrationId = id;
}

export const context = () => ({
  ...{ db: database.db, cursorKey: Buffer.alloc(32), actor: { kind: 'Operator' } as const },
  secrets: { erasureKey: Buffer.alloc(32) },
  integration: { id: integrationId, plan: 'pro', tier: 'pro', mediumAt: 40, botAt: 70 } as const,
});

export const RULE = {
  ...{ name: 'Bots', metric: 'botSessions', scope: { kind: 'integration' }, windowMinutes: 10, comparison: 'gte' },
  ...{ value: 3, severity: 'high', message: '{{value}} bots in {{scope}}' },
};
/** Creates a rule that has existed for two days. */
export async function createRule(fields: object = {}): Promise<string> {
  const { id } = await createAlertRule(context(), createAlertRuleInput.parse({ ...RULE, ...fields }));
  await database.db.sql`update alert_rules set judged_from = ${at(-2_880)} where id = ${id}`;
  return id;
}

export const ingest = (list: unknown[]) =>
  ingester.ingestFacts({ integrationId, facts: list.map((fact): Fact => factSchema.parse(fact)) });

let sessions = 0;
interface Visit {
  score?: number;
  count?: number;
  user?: string;
  confidence?: number;
  page?: string;
}
/** Sends sessions that began in a minute. Returns their ids. */
export async function visit(
  minute: number,
  { score = 0.9, count = 1, user, confidence = 1, page }: Visit = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `s-${++sessions}`);
  await ingest(
    ids.flatMap((id) => [
      facts.started(id, { startedAt: at(minute + 0.4), ...(page ? { pageUrl: page } : {}) }),
      ...(user ? [facts.correlated(id, user, { confidence, correlatedAt: at(minute + 0.5) })] : []),
      facts.scored(id, score, { scoredAt: at(minute + 0.6) }),
    ]),
  );
  return ids;
}

export const evaluate = (minute: number) => rules.evaluate(integrationId, at(minute));
/** The ends of the windows of all alerts, in minutes from the base. */
export async function listEnds(): Promise<number[]> {
  const rows = await database.db.sql<{ end: string }[]>`
    select window_end as "end" from alerts where integration_id = ${integrationId} order by 1`;
  return rows.map(({ end }) => (Date.parse(end) - BASE_MS) / MINUTE_MS);
}

/** Measures a rule in the window with an end. */
export async function measure(end: number, fields: object): Promise<number | undefined> {
  const rule = createAlertRuleInput.parse({ ...RULE, comparison: 'gte', value: 1, ...fields });
  const counted = { ...rule, integrationId, scope: rule.scope.kind, scopeValue: rule.scope.value ?? '' };
  const ends = { first: BASE_MS / MINUTE_MS + end, last: BASE_MS / MINUTE_MS + end };
  const [series] = await readSeries(database.db, [{ counted, ends }]);
  return findFirings({ ...rule, comparison: 'lt', value: 1e9 }, series!, ends)[0]?.value;
}

export const ELSEWHERE = 'https://other.example.edu/courses/7';
export const COURSE = findCourse('https://lms.example.edu/courses/42')!.id;
