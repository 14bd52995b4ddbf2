import { describe, expect, it } from 'vitest';
import { createAlertRuleInput, updateAlertRuleInput } from '../../../contract/alert-rules';
import { deleteAlertRule, setAlertRuleEnabled, updateAlertRule } from '../../../server/domain/alert-rules';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import { previewAlertRule } from '../../../server/findings/alert-preview';
import {
  at,
  BASE_MS,
  COURSE,
  context,
  createRule,
  database,
  evaluate,
  integrationId,
  listEnds,
  MINUTE_MS,
  RULE,
  visit,
} from './judged-integration';

export function registerFiringTests(): void {
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
      const midnight = Math.ceil(
        (Date.parse(`${at(-1_500).slice(0, 10)}T00:00:00Z`) + 86_400_000 - BASE_MS) / MINUTE_MS,
      );
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

    it('begins again if it has another condition, and goes on if it has other words', async () => {
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

    it('does not fire for what a longer cool-down kept quiet, and fires for what comes then', async () => {
      const id = await createRule({ coolDownMinutes: 1_440 });
      for (let minute = -120; minute <= -60; minute++) await visit(minute);
      expect(await evaluate(0)).toBe(1);
      await change(id, 1, { coolDownMinutes: 10 });
      expect(await evaluate(0)).toBe(0);
      await database.db.sql`update alert_rules set judged_from = ${at(0)} where id = ${id}`;
      await visit(1, { count: 3 });
      expect(await evaluate(1.5)).toBe(1);
      expect(await listEnds()).toEqual([-117, 2]);
    });

    it('is judged as before with a longer cool-down', async () => {
      const id = await createRule();
      await visit(-2, { count: 3 });
      await change(id, 1, { coolDownMinutes: 1_440 });
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
      expect(preview.firings[0]).toMatchObject({
        message: expect.stringMatching(/^\d bots in the whole integration$/),
      });
    });

    it('lists the latest hundred', async () => {
      const rule = createAlertRuleInput.parse({ ...RULE, comparison: 'lt', windowMinutes: 5 });
      const preview = await previewAlertRule(database.db, integrationId, rule, at(0));
      expect(preview.count).toBe((30 * 24 * 60) / 5);
      expect(preview.firings).toHaveLength(100);
      expect(preview.firings[0]!.windowEnd > preview.firings[99]!.windowEnd).toBe(true);
    });
  });
}
