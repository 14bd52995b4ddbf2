import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAlertRuleInput, updateAlertRuleInput } from '../../contract/alert-rules';
import { openDatabase, type Query } from '../../db/client';
import { asOperator } from '../../server/audit/acts';
import {
  createAlertRule,
  deleteAlertRule,
  setAlertRuleEnabled,
  updateAlertRule,
} from '../../server/domain/alert-rules';
import { findCourse } from '../../server/domain/courses';
import { createIntegration } from '../../server/domain/integrations';
import { foldIncidents } from '../../server/domain/minute-counts';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { READ_SERIES, readSeries } from '../../server/findings/alert-counts';
import { findDueEnds, findFirings } from '../../server/findings/alert-decision';
import { previewAlertRule } from '../../server/findings/alert-preview';
import { createAlertRules } from '../../server/findings/alert-rules';
import { type Fact, factSchema } from '../../server/pipeline/facts';
import { createIngester, type Ingester, InvalidFactError } from '../../server/pipeline/ingest';
import { createLogger } from '../../server/platform/log';
import { createTestDatabase, type TestDatabase } from '../support/database';
import * as facts from '../support/facts';
import { createGate } from '../support/gate';

// Alert rules on a real Postgres: what they count, when they fire, and that each alert is sent once. Time is passed in.

const log = createLogger({ LOG_LEVEL: 'silent', LOG_FORMAT: 'json' });
const MINUTE_MS = 60_000;
/** The minute from which the tests count, some hours ago: facts may not be in the future. */
const BASE_MS = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 3 * 60 * MINUTE_MS;
/** The instant so many minutes after the base, or before it. */
const at = (minutes: number) => new Date(BASE_MS + minutes * MINUTE_MS).toISOString();

const openIngester = (db: TestDatabase['db']) =>
  createIngester({
    ...{ db, log, firstDelayMs: 0, publicUrl: null, erasureKey: Buffer.alloc(32), onCommitted: () => {} },
    // No subscription waits for these alerts.
    publisher: { publish: () => {}, publishLater: () => {}, republish: async () => {}, flush: async () => {} },
    handover: { reserve: () => false, start: () => {}, release: () => {}, leaseMs: 0, leaseOwner: null },
  });

const openRules = (db: TestDatabase['db'], ingester: Ingester) =>
  createAlertRules({ db, log, ingester, publicUrl: 'https://d.example.com', hasTimers: false });

let database: TestDatabase;
let ingester: Ingester;
let rules: ReturnType<typeof openRules>;
let integrationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ingester = openIngester(database.db);
  rules = openRules(database.db, ingester);
});
afterAll(() => database.drop());
beforeEach(async () => {
  integrationId = (await createIntegration(asOperator(database.db), { name: 'own', plan: 'pro', allowedOrigins: [] }))
    .id;
});

const context = () => ({
  ...{ db: database.db, cursorKey: Buffer.alloc(32), actor: { kind: 'Operator' } as const },
  secrets: { erasureKey: Buffer.alloc(32) },
  integration: { id: integrationId, plan: 'pro', tier: 'pro', mediumAt: 40, botAt: 70 } as const,
});

const RULE = {
  ...{ name: 'Bots', metric: 'botSessions', scope: { kind: 'integration' }, windowMinutes: 10, comparison: 'gte' },
  ...{ value: 3, severity: 'high', message: '{{value}} bots in {{scope}}' },
};
/** Creates a rule that has existed for two days. */
async function createRule(fields: object = {}): Promise<string> {
  const { id } = await createAlertRule(context(), createAlertRuleInput.parse({ ...RULE, ...fields }));
  await database.db.sql`update alert_rules set judged_from = ${at(-2_880)} where id = ${id}`;
  return id;
}

const ingest = (list: unknown[]) =>
  ingester.ingestFacts({ integrationId, facts: list.map((fact): Fact => factSchema.parse(fact)) });

let sessions = 0;
interface Visit {
  score?: number;
  count?: number;
  user?: string;
  page?: string;
}
/** Sends sessions that began in a minute. Returns their ids. */
async function visit(minute: number, { score = 0.9, count = 1, user, page }: Visit = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `s-${++sessions}`);
  await ingest(
    ids.flatMap((id) => [
      facts.started(id, { startedAt: at(minute + 0.4), ...(page ? { pageUrl: page } : {}) }),
      ...(user ? [facts.correlated(id, user, { correlatedAt: at(minute + 0.5) })] : []),
      facts.scored(id, score, { scoredAt: at(minute + 0.6) }),
    ]),
  );
  return ids;
}

const evaluate = (minute: number) => rules.evaluate(integrationId, at(minute));
/** The ends of the windows of all alerts, in minutes from the base. */
async function listEnds(): Promise<number[]> {
  const rows = await database.db.sql<{ end: string }[]>`
    select window_end as "end" from alerts where integration_id = ${integrationId} order by 1`;
  return rows.map(({ end }) => (Date.parse(end) - BASE_MS) / MINUTE_MS);
}

/** Measures a rule in the window with an end. */
async function measure(end: number, fields: object): Promise<number | undefined> {
  const rule = createAlertRuleInput.parse({ ...RULE, comparison: 'gte', value: 1, ...fields });
  const counted = { ...rule, integrationId, scope: rule.scope.kind, scopeValue: rule.scope.value ?? '' };
  const ends = { first: BASE_MS / MINUTE_MS + end, last: BASE_MS / MINUTE_MS + end };
  const [series] = await readSeries(database.db, [{ counted, ends }]);
  return findFirings({ ...rule, comparison: 'lt', value: 1e9 }, series!, ends)[0]?.value;
}

const ELSEWHERE = 'https://other.example.edu/courses/7';
const COURSE = findCourse('https://lms.example.edu/courses/42')!.id;

describe('a metric in a scope', () => {
  const CASES: [metric: string, scope: object, value: number, more?: object][] = [
    ['botSessions', { kind: 'integration' }, 6],
    ['botSessions', { kind: 'course', value: COURSE }, 5],
    ['botSessions', { kind: 'user', value: 'ada' }, 3],
    ['botSessions', { kind: 'origin', value: 'https://lms.example.edu' }, 5],
    ['botShare', { kind: 'integration' }, 60, { minSessions: 10 }],
    ['botShare', { kind: 'course', value: COURSE }, 62.5, { minSessions: 8 }],
    ['botShare', { kind: 'user', value: 'ada' }, 75, { minSessions: 4 }],
    ['botShare', { kind: 'origin', value: 'https://other.example.edu' }, 50, { minSessions: 2 }],
    ['averageScore', { kind: 'integration' }, 0.62, { minSessions: 10 }],
    ['averageScore', { kind: 'course', value: COURSE }, 0.6375, { minSessions: 8 }],
    ['averageScore', { kind: 'user', value: 'ada' }, 0.725, { minSessions: 4 }],
    ['averageScore', { kind: 'origin', value: 'https://other.example.edu' }, 0.55, { minSessions: 2 }],
    ['anomalies', { kind: 'integration' }, 4],
    ['anomalies', { kind: 'user', value: 'ada' }, 3],
    ['anomalies', { kind: 'integration' }, 3, { anomalyType: 'SharedDevice' }],
    ['anomalies', { kind: 'integration' }, 3, { minSeverity: 'medium' }],
    ['anomalies', { kind: 'user', value: 'ada' }, 1, { anomalyType: 'SharedDevice', minSeverity: 'high' }],
    ['failedDeliveries', { kind: 'integration' }, 2],
  ];

  it('is counted exactly, before and after a fold', async () => {
    await visit(-4, { count: 3, user: 'ada' });
    await visit(-4, { count: 2 });
    await visit(-3, { score: 0.2, user: 'ada' });
    await visit(-3, { score: 0.2, count: 2 });
    await visit(-3, { page: ELSEWHERE });
    await visit(-3, { page: ELSEWHERE, score: 0.2 });
    // Before and after the window. Other tests have the same users and courses in other integrations.
    await visit(-13, { count: 4, user: 'ada' });
    await visit(1, { count: 4, user: 'ada' });
    const anomaly = (n: number, fields: object) =>
      facts.anomaly(`a-${integrationId}-${n}`, { detectedAt: at(-4), anomalyType: 'SharedDevice', ...fields });
    await ingest([
      anomaly(1, { userId: 'ada', severity: 'high' }),
      anomaly(2, { userId: 'ada', severity: 'medium' }),
      anomaly(3, { severity: 'low' }),
      anomaly(4, { userId: 'ada', anomalyType: 'DeviceSwitch' }),
      anomaly(5, { userId: 'ada', detectedAt: at(-13) }),
    ]);
    const { sql } = database.db;
    const statuses = ['Failed', 'MaxRetriesExceeded', 'Delivered', 'Failed'];
    for (const [n, status] of statuses.entries()) {
      await sql`insert into webhook_deliveries (integration_id, id, subscription_id, is_test)
                values (${integrationId}, ${`d-${n}`}, 'w', ${n === 3})`;
      await sql`update webhook_deliveries set status = ${status}, finished_at = ${at(-4)}
                 where integration_id = ${integrationId} and id = ${`d-${n}`}`;
    }
    for (const isFolded of [false, true]) {
      if (isFolded) expect(await foldSessionDeltas(database.db)).toBeGreaterThan(0);
      // One row each for the integration and ada: two types, three severities, two minutes; and one for the deliveries.
      if (isFolded) expect(await foldIncidents(database.db)).toBe(10);
      for (const [metric, scope, value, more] of CASES) {
        const said = [metric, scope, more, isFolded];
        expect([...said, await measure(0, { metric, scope, ...more })]).toEqual([...said, value]);
      }
    }
  });

  it('is as exact as a count of the sessions, whatever changes', async () => {
    const { sql } = database.db;
    const insert = () => sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
                            browser, bot_score, score_bin, user_id, course_id)
      select ${integrationId}, gen_random_uuid()::text, ${at(0)}::timestamptz - random() * interval '40 minutes', 'Scored', '',
             'https://o' || n % 3 || '.edu', '', '', 'desktop', 'Chrome', bin / 100.0, bin,
             case when n % 4 > 0 then 'u-' || n % 5 end, case when n % 3 > 0 then 'c-' || n % 4 end
        from (select n, case when n % 9 > 0 then (random() * 100)::int end as bin from generate_series(1, 120) n) s`;
    const change = () => sql`
      update sessions set score_bin = bin, bot_score = (bin + random() / 2) / 100, label = (array[null, null, 1, -1])[1 + (random() * 3)::int],
             user_id = 'u-' || (random() * 6)::int
        from (select id as of, (random() * 99)::int as bin from sessions where integration_id = ${integrationId}) b
       where integration_id = ${integrationId} and id = of and random() < 0.4`;
    const expectExact = async (columns: string, scope: string, value: string) => {
      const [raw] = await sql`
        select count(*) filter (where effective_bin >= 70)::int as bots, count(*) filter (where effective_bin >= -1)::int as judged,
               coalesce(sum(round(bot_score * 1e6)), 0)::float8 as micros, count(bot_score)::int as scored
          from sessions where integration_id = ${integrationId} and ${sql(columns)} = ${value}
           and created_at >= ${at(-20)} and created_at < ${at(-5)}`;
      const of = (metric: string) =>
        measure(-5, {
          ...{ metric, windowMinutes: 15, minSessions: 1 },
          scope: { kind: scope, ...(value === integrationId ? {} : { value }) },
        });
      const { bots, judged, micros, scored } = raw!;
      expect(await of('botSessions')).toBe(bots);
      expect(await of('botShare')).toBe(judged === 0 ? undefined : (100 * bots) / judged);
      expect(await of('averageScore')).toBe(scored === 0 ? undefined : micros / scored / 1e6);
    };
    for (let round = 0; round < 4; round++) {
      await (round % 2 ? change() : insert());
      if (round > 1) await change();
      await expectExact('integration_id', 'integration', integrationId);
      await expectExact('user_id', 'user', 'u-3');
      await expectExact('course_id', 'course', 'c-1');
      await expectExact('origin', 'origin', 'https://o2.edu');
      if (round > 0) await foldSessionDeltas(database.db);
      await expectExact('user_id', 'user', 'u-3');
      await expectExact('integration_id', 'integration', integrationId);
    }
  });
});

describe('rules that count the same', () => {
  it('share what is read, and find what each finds alone', async () => {
    for (const minute of [-10_078, -2_881, -2_880, -1_441, -1_440, -1_439, -700, -16, -15, -5, -1, 0])
      await visit(minute);
    const now = BASE_MS / MINUTE_MS;
    const windows = [5, 15, 700, 1_440, 1_441, 2_881, 10_080].flatMap((windowMinutes) =>
      (['gte', 'lt'] as const).map((comparison) => {
        const rule = createAlertRuleInput.parse({ ...RULE, windowMinutes, comparison, value: 2, coolDownMinutes: 5 });
        return {
          rule,
          counted: { ...rule, integrationId, scope: rule.scope.kind, scopeValue: '' },
          ends: findDueEnds(rule, now, 0)!,
        };
      }),
    );
    const together = await readSeries(database.db, windows);
    let found = 0;
    for (const [index, window] of windows.entries()) {
      const [alone] = await readSeries(database.db, [window]);
      const firings = findFirings(window.rule, alone!, window.ends);
      expect([index, findFirings(window.rule, together[index]!, window.ends)]).toEqual([index, firings]);
      found += firings.length;
    }
    expect(found).toBeGreaterThan(100);
    expect(new Set(together).size).toBe(1);
    expect(together[0]!.minutes.length).toBeLessThan(20);
  });
});

describe('an alert', () => {
  it('is a fact with the message, the window, the rule and a link', async () => {
    const id = await createRule({ scope: { kind: 'course', value: COURSE } });
    await visit(-2, { count: 3 });
    expect(await evaluate(0.5)).toBe(1);
    const [alert] = await database.db.sql`select * from alerts where integration_id = ${integrationId}`;
    expect(alert).toMatchObject({
      ...{ id: expect.stringMatching(/^alr_[\w-]{22}$/), severity: 'high', message: '3 bots in Course 42' },
      ...{ triggered_at: at(0.5), rule_id: id, window_start: at(-11), window_end: at(-1) },
      ...{ url: `https://d.example.com/dashboard/${integrationId}/alerts?selected=${alert!.id}` },
    });
    const [event] = await database.db.sql`select payload from domain_events where integration_id = ${integrationId}`;
    expect(JSON.parse(event!.payload)).toEqual({
      ...{
        alertId: alert!.id,
        severity: 'high',
        message: '3 bots in Course 42',
        triggeredAt: at(0.5),
        alertUrl: alert!.url,
      },
    });
    expect(await evaluate(0.6)).toBe(0);
  });

  it('comes for sessions of this minute, and no sooner for what the rest of the minute may change', async () => {
    await createRule();
    await createRule({ metric: 'botShare', value: 50, minSessions: 3 });
    await visit(0, { count: 3 });
    expect(await evaluate(0.7)).toBe(1);
    expect(await evaluate(0.9)).toBe(0);
    expect(await evaluate(1)).toBe(1);
    expect(await listEnds()).toEqual([1, 1]);
  });

  it('comes for facts that are late, with the window in which they belong', async () => {
    await createRule();
    await visit(-6 * 60, { count: 2 });
    expect(await evaluate(0)).toBe(0);
    await visit(-6 * 60 + 4);
    expect(await evaluate(0)).toBe(1);
    expect(await listEnds()).toEqual([-6 * 60 + 5]);
    await visit(-25 * 60, { count: 3 });
    expect(await evaluate(0)).toBe(0);
  });

  it('comes for a window that is longer than a day', async () => {
    await createRule({ windowMinutes: 7 * 24 * 60 });
    await visit(-6 * 24 * 60);
    await visit(-24 * 60);
    await visit(-8 * 24 * 60);
    expect(await evaluate(0)).toBe(0);
    await visit(0);
    await foldSessionDeltas(database.db);
    expect(await evaluate(0.5)).toBe(1);
  });

  it('follows labels and cut points', async () => {
    await createRule({ coolDownMinutes: 5 });
    const [first] = await visit(-2, { count: 3 });
    const { sql } = database.db;
    const label = (value: number | null) => sql`update sessions set label = ${value} where id = ${first!}`;
    await label(-1);
    expect(await evaluate(0)).toBe(0);
    await label(1);
    await sql`update integrations set bot_at = 95 where id = ${integrationId}`;
    expect(await evaluate(0)).toBe(0);
    await sql`update integrations set bot_at = 90 where id = ${integrationId}`;
    expect(await evaluate(0)).toBe(1);
  });

  it('comes at most once in the cool-down, by the minutes of windows and not of the clock', async () => {
    await createRule({ coolDownMinutes: 20 });
    for (let minute = -60; minute < 0; minute++) await visit(minute);
    for (let minute = -60; minute < 0; minute += 7) await evaluate(minute + 0.5);
    expect(await listEnds()).toEqual([-57, -37, -17]);
    const [rule] = await database.db
      .sql`select to_json(fired_ends) as ends from alert_rules where integration_id = ${integrationId}`;
    expect(rule!.ends.map((end: number) => end - BASE_MS / MINUTE_MS)).toEqual([-57, -37, -17]);
  });

  it('does not depend on a midnight, or on a clock just before or after a minute', async () => {
    await createRule();
    const midnight = Math.ceil((Date.parse(`${at(-1_500).slice(0, 10)}T00:00:00Z`) + 86_400_000 - BASE_MS) / MINUTE_MS);
    await visit(midnight - 1, { count: 2 });
    await visit(midnight);
    const ms = 1 / MINUTE_MS;
    expect([await evaluate(midnight - ms), await listEnds()]).toEqual([0, []]);
    expect([await evaluate(midnight), await listEnds()]).toEqual([1, [midnight + 1]]);
    for (const minute of [midnight + 1 - ms, midnight + 1, midnight + 1 + ms]) expect(await evaluate(minute)).toBe(0);
  });
});

describe('a rule that is changed', () => {
  const change = async (id: string, version: number, fields: object) =>
    updateAlertRule(context(), updateAlertRuleInput.parse({ ...RULE, ...fields, id, version }));

  it('begins anew if it has another condition, and goes on if it has other words', async () => {
    const id = await createRule();
    await visit(-2, { count: 4 });
    expect(await evaluate(0)).toBe(1);
    expect(await change(id, 1, { message: 'Other words' })).toMatchObject({ version: 2, message: 'Other words' });
    expect(await evaluate(0)).toBe(0);
    await change(id, 2, { value: 4 });
    // Windows that ended before the change are not judged.
    expect(await evaluate(0)).toBe(0);
    await database.db.sql`update alert_rules set judged_from = ${at(-1)} where id = ${id}`;
    expect(await evaluate(0)).toBe(1);
  });

  it('stays as it is if somebody has changed it since, and if nothing is different', async () => {
    const id = await createRule();
    expect(await change(id, 1, { name: 'Other' })).toMatchObject({ version: 2, name: 'Other' });
    expect(await change(id, 2, { name: 'Other' })).toMatchObject({ version: 2 });
    await expect(change(id, 1, { name: 'Third' })).rejects.toMatchObject({ code: 'INVALID_BODY', field: 'version' });
    await expect(change('rul_nobody', 1, {})).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('does not fire while it is off, for what happened then, or once it is deleted', async () => {
    const id = await createRule();
    await setAlertRuleEnabled(context(), { id, enabled: false });
    await visit(-2, { count: 4 });
    expect(await evaluate(0)).toBe(0);
    await setAlertRuleEnabled(context(), { id, enabled: true });
    expect(await evaluate(0)).toBe(0);
    await database.db.sql`update alert_rules set judged_from = ${at(-2_880)} where id = ${id}`;
    await deleteAlertRule(context(), { id });
    expect(await evaluate(0)).toBe(0);
    await expect(deleteAlertRule(context(), { id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

/** Begins a judgement that waits until `goOn` when it has read the rules. */
async function holdJudgement() {
  const reading = createGate();
  const counting = createGate();
  const query: Query = async (text, parameters) => {
    if (text === READ_SERIES) {
      reading.open();
      await counting.opened;
    }
    return database.db.query(text, parameters);
  };
  const judged = openRules({ ...database.db, query }, ingester).evaluate(integrationId, at(0));
  await Promise.race([reading.opened, judged]);
  return { judged, goOn: counting.open };
}

describe('an alert is sent exactly once', () => {
  it('by processes that judge at the same time, in windows of other minutes', async () => {
    for (let n = 0; n < 3; n++) await createRule({ name: `Rule ${n}`, value: 2 + n });
    const other = openDatabase({ url: database.url, maxConnections: 4 });
    const both = [rules, openRules(other, openIngester(other))];
    for (let minute = -30; minute < 0; minute++) {
      const visited = visit(minute, { count: minute % 3 === 0 ? 2 : 1 });
      const judged = Array.from({ length: 6 }, (_, n) => both[n % 2]!.evaluate(integrationId, at(minute + n / 5)));
      await Promise.all([visited, ...judged]);
    }
    await other.close();
    const rows = await database.db.sql<{ ruleId: string; gap: number | null; count: number }[]>`
      select rule_id as "ruleId", count(*)::int as count, min(gap)::int as gap
        from (select rule_id, extract(epoch from window_end - lag(window_end) over (partition by rule_id order by window_end)) / 60 as gap
                from alerts where integration_id = ${integrationId}) a group by rule_id`;
    expect(rows).toHaveLength(3);
    for (const { count, gap } of rows) {
      expect(gap).toBeGreaterThanOrEqual(10);
      // The bots never cease, so each rule fires in each of the three stretches of ten minutes, less the first minutes.
      expect([2, 3, 4]).toContain(count);
    }
    const [events] = await database.db.sql`
      select count(*)::int as n, count(distinct natural_key)::int as keys from domain_events where integration_id = ${integrationId}`;
    expect(events).toEqual({ n: rows.reduce((sum, { count }) => sum + count, 0), keys: events!.n });
  });

  it('by one of two that read the rule at the same time, although the other finds another window', async () => {
    await createRule();
    await visit(-2, { count: 3 });
    const { judged: late, goOn } = await holdJudgement();
    expect(await evaluate(0)).toBe(1);
    await visit(-5, { count: 3 });
    goOn();
    expect(await late).toBe(0);
    expect(await listEnds()).toEqual([-1]);
  });

  it('with the words of now, if the rule is changed while it is judged', async () => {
    const id = await createRule();
    await visit(-2, { count: 3 });
    const { judged: late, goOn } = await holdJudgement();
    await updateAlertRule(context(), updateAlertRuleInput.parse({ ...RULE, id, version: 1, message: 'New words' }));
    goOn();
    expect(await late).toBe(0);
    expect(await evaluate(0)).toBe(1);
    const [alert] = await database.db.sql`select message from alerts where integration_id = ${integrationId}`;
    expect(alert).toEqual({ message: 'New words' });
  });

  it('by another process if the one that claimed it cannot send it', async () => {
    const id = await createRule();
    await visit(-2, { count: 3 });
    const away = openRules(database.db, { ingestFacts: () => Promise.reject(new Error('died')) });
    await expect(away.evaluate(integrationId, at(0))).rejects.toThrow('died');
    expect(await listEnds()).toEqual([]);
    // Even if the rule is deleted meanwhile: it did fire.
    await deleteAlertRule(context(), { id });
    expect([await evaluate(5), await evaluate(6)]).toEqual([1, 0]);
    expect(await listEnds()).toEqual([-1]);
    const [alert] = await database.db.sql`select triggered_at from alerts where integration_id = ${integrationId}`;
    expect(alert).toEqual({ triggered_at: at(0) });
  });

  it('and not again if it is refused, so that its rule goes on', async () => {
    await createRule();
    await visit(-20, { count: 3 });
    const refusing = openRules(database.db, { ingestFacts: () => Promise.reject(new InvalidFactError(0, 'refused')) });
    expect(await refusing.evaluate(integrationId, at(-18))).toBe(0);
    await visit(-2, { count: 3 });
    expect(await evaluate(0)).toBe(1);
    expect(await listEnds()).toEqual([-1]);
  });

  it('by both, if both send it: the second is a duplicate', async () => {
    await createRule();
    await visit(-2, { count: 3 });
    let sendTwice = async () => {};
    const slow: Ingester = {
      async ingestFacts(input) {
        await sendTwice();
        return ingester.ingestFacts(input);
      },
    };
    sendTwice = async () => expect(await evaluate(0)).toBe(1);
    expect(await openRules(database.db, slow).evaluate(integrationId, at(0))).toBe(0);
    expect(await listEnds()).toEqual([-1]);
    expect(
      await database.db.sql`select 1 from alert_rules where integration_id = ${integrationId} and unsent is not null`,
    ).toHaveLength(0);
  });
});

describe('the judgement of all integrations', () => {
  it('goes on if one of them fails, and reads only those with rules', async () => {
    await database.db.sql`update alert_rules set enabled = false`;
    const id = await createRule();
    await visit(-2, { count: 3 });
    await createIntegration(asOperator(database.db), { name: 'without', plan: 'pro', allowedOrigins: [] });
    const first = integrationId;
    integrationId = (
      await createIntegration(asOperator(database.db), { name: 'other', plan: 'pro', allowedOrigins: [] })
    ).id;
    await createRule();
    await visit(-2, { count: 3 });
    const failing: Ingester = {
      ingestFacts: (input) =>
        input.integrationId === first ? Promise.reject(new Error('no')) : ingester.ingestFacts(input),
    };
    expect(await openRules(database.db, failing).evaluateAll()).toBe(1);
    expect(await listEnds()).toEqual([-1]);
    integrationId = first;
    expect(await listEnds()).toEqual([]);
    expect(await rules.evaluateAll()).toBe(1);
    await deleteAlertRule(context(), { id });
  });

  it('reads the rules and counts of many at once, each with its own sessions and cut points', async () => {
    const { sql } = database.db;
    await sql`update alert_rules set enabled = false`;
    const open = async (name: string) => {
      integrationId = (await createIntegration(asOperator(database.db), { name, plan: 'pro', allowedOrigins: [] })).id;
      await createRule();
      return integrationId;
    };
    const few = await open('few');
    await visit(-2, { count: 2 });
    const many = await open('many');
    await visit(-2, { count: 2 });
    await foldSessionDeltas(database.db);
    await visit(-2);
    const strict = await open('strict');
    await sql`update integrations set bot_at = 95 where id = ${strict}`;
    await visit(-2, { count: 3 });
    for (let n = 0; n < 27; n++) await open(`without sessions ${n}`);
    const asked: string[] = [];
    const query: Query = (text, parameters) => {
      asked.push(text);
      return database.db.query(text, parameters);
    };
    expect(await openRules({ ...database.db, query }, ingester).evaluateAll()).toBe(1);
    const rows = await sql`select integration_id from alerts where integration_id in (${few}, ${many}, ${strict})`;
    expect(rows).toEqual([{ integration_id: many }]);
    // The integrations with rules, twice rules and counts, one claim that is made and forgotten.
    expect(asked.length).toBe(1 + 2 * 2 + 2);
    await sql`update alert_rules set enabled = false`;
  });

  it('counts for as many rules at once as an integration can have, however many share it', async () => {
    const { sql } = database.db;
    await sql`update alert_rules set enabled = false`;
    const parts: number[] = [];
    for (let n = 0; n < 2; n++) {
      integrationId = (
        await createIntegration(asOperator(database.db), { name: 'busy', plan: 'pro', allowedOrigins: [] })
      ).id;
      for (let value = 1; value <= 51; value++) await createRule({ scope: { kind: 'user', value: `user-${value}` } });
    }
    const query: Query = (text, parameters) => {
      if (text === READ_SERIES) parts.push(JSON.parse(String(parameters[0])).length);
      return database.db.query(text, parameters);
    };
    await openRules({ ...database.db, query }, ingester).evaluateAll();
    expect(parts).toEqual([100, 2]);
    await sql`update alert_rules set enabled = false`;
  });
});

describe('a preview', () => {
  it('says when the rule would have fired, as the judgements of each minute did', async () => {
    await createRule({ value: 4 });
    for (let minute = -90; minute < -10; minute++) {
      await visit(minute, { count: minute % 20 < -14 ? 2 : 1, score: minute % 7 ? 0.9 : 0.1 });
      await evaluate(minute + 0.9);
    }
    await evaluate(0);
    const rule = createAlertRuleInput.parse({ ...RULE, value: 4 });
    const preview = await previewAlertRule(database.db, integrationId, rule, at(0.5));
    const ends = preview.firings.map(({ windowEnd }) => (Date.parse(windowEnd) - BASE_MS) / MINUTE_MS);
    const judged = await listEnds();
    expect(judged.length).toBeGreaterThan(3);
    expect(ends.reverse()).toEqual(judged);
    expect(preview).toMatchObject({ count: judged.length, from: at(-30 * 24 * 60 + 1), to: at(0) });
    expect(preview.firings[0]).toMatchObject({ message: expect.stringMatching(/^\d bots in the whole integration$/) });
  });

  it('lists the latest hundred', async () => {
    const rule = createAlertRuleInput.parse({ ...RULE, comparison: 'lt', windowMinutes: 5 });
    const preview = await previewAlertRule(database.db, integrationId, rule, at(0));
    expect(preview.count).toBe((30 * 24 * 60) / 5);
    expect(preview.firings).toHaveLength(100);
    expect(preview.firings[0]!.windowEnd > preview.firings[99]!.windowEnd).toBe(true);
  });
});
