import { describe, expect, it } from 'vitest';
import { createAlertRuleInput } from '../../../contract/alert-rules';
import { foldIncidents, recountMinutes } from '../../../server/domain/minute-counts';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import { readSeries } from '../../../server/findings/alert-counts';
import { findDueEnds, findFirings } from '../../../server/findings/alert-decision';
import * as facts from '../../support/facts';
import {
  at,
  BASE_MS,
  COURSE,
  database,
  ELSEWHERE,
  ingest,
  integrationId,
  MINUTE_MS,
  measure,
  RULE,
  visit,
} from './judged-integration';

export function registerMetricTests(): void {
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

    it('counts for a user only sessions whose user is known reliably, before and after a fold and a recount', async () => {
      const { sql } = database.db;
      const expectBots = async (ofUser: number, ofAll: number) => {
        expect(await measure(0, { scope: { kind: 'user', value: 'ada' } })).toBe(ofUser);
        expect(await measure(0, {})).toBe(ofAll);
      };
      const recount = async () => {
        await sql`update integrations set minutes_recounted_to = ${at(-60)} where id = ${integrationId}`;
        await recountMinutes(database.db);
      };
      await visit(-4, { count: 2, user: 'ada', confidence: 0.5 });
      await visit(-3, { user: 'ada', confidence: 0.3 });
      await expectBots(0, 3);
      await recount();
      await expectBots(0, 3);
      await foldSessionDeltas(database.db);
      await expectBots(0, 3);
      await visit(-3, { user: 'ada', confidence: 0.7 });
      await recount();
      await expectBots(1, 4);
      await foldSessionDeltas(database.db);
      await expectBots(1, 4);
      await recount();
      await expectBots(1, 4);
    });

    it('is as exact as a count of the sessions, whatever changes', async () => {
      const { sql } = database.db;
      const insert = () => sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
                            browser, bot_score, score_bin, user_id, correlation_confidence, course_id)
      select ${integrationId}, gen_random_uuid()::text, ${at(0)}::timestamptz - random() * interval '40 minutes', 'Scored', '',
             'https://o' || n % 3 || '.edu', '', '', 'desktop', 'Chrome', bin / 100.0, bin,
             case when n % 4 > 0 then 'u-' || n % 5 end, (array[0.5, 0.7, 1])[1 + n % 3], case when n % 3 > 0 then 'c-' || n % 4 end
        from (select n, case when n % 9 > 0 then (random() * 100)::int end as bin from generate_series(1, 120) n) s`;
      const change = () => sql`
      update sessions set score_bin = bin, bot_score = (bin + random() / 2) / 100, label = (array[null, null, 1, -1])[1 + (random() * 3)::int],
             user_id = 'u-' || (random() * 6)::int, correlation_confidence = (array[0.5, 0.7, 1])[1 + (random() * 2)::int]
        from (select id as of, (random() * 99)::int as bin from sessions where integration_id = ${integrationId}) b
       where integration_id = ${integrationId} and id = of and random() < 0.4`;
      const expectExact = async (columns: string, scope: string, value: string) => {
        const [raw] = await sql`
        select count(*) filter (where effective_bin >= 70)::int as bots, count(*) filter (where effective_bin >= -1)::int as judged,
               coalesce(sum(round(bot_score * 1e6)), 0)::float8 as micros, count(bot_score)::int as scored
          from sessions where integration_id = ${integrationId} and ${sql(columns)} = ${value}
           and (${scope} <> 'user' or correlation_confidence >= 0.7)
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
}
