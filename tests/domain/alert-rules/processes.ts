import { describe, expect, it } from 'vitest';
import { updateAlertRuleInput } from '../../../contract/alert-rules';
import { openDatabase, type Query } from '../../../db/client';
import { deleteAlertRule, updateAlertRule } from '../../../server/domain/alert-rules';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import { READ_SERIES } from '../../../server/findings/alert-counts';
import { type Ingester, InvalidFactError } from '../../../server/pipeline/ingest';
import { createGate } from '../../support/gate';
import {
  at,
  context,
  createRule,
  database,
  evaluate,
  ingester,
  integrationId,
  listEnds,
  openIngester,
  openIntegration,
  openRules,
  RULE,
  rules,
  switchTo,
  visit,
} from './judged-integration';

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

export function registerProcessTests(): void {
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

    it('also if the clock of the database was set back after it was claimed', async () => {
      await createRule();
      await visit(-2, { count: 3 });
      const away = openRules(database.db, { ingestFacts: () => Promise.reject(new Error('died')) });
      await expect(away.evaluate(integrationId, at(0))).rejects.toThrow('died');
      await database.db.sql`
        update alert_rules set unsent = jsonb_set(unsent, '{0,triggeredAt}', to_jsonb(now() + interval '1 hour'))
         where integration_id = ${integrationId}`;
      expect(await evaluate(1)).toBe(1);
      expect(await listEnds()).toEqual([-1]);
    });

    it('and not again if it is refused, so that its rule goes on', async () => {
      await createRule();
      await visit(-20, { count: 3 });
      const refusing = openRules(database.db, {
        ingestFacts: () => Promise.reject(new InvalidFactError(0, 'refused')),
      });
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
      await openIntegration('without');
      const first = integrationId;
      switchTo(await openIntegration('other'));
      await createRule();
      await visit(-2, { count: 3 });
      const failing: Ingester = {
        ingestFacts: (input) =>
          input.integrationId === first ? Promise.reject(new Error('no')) : ingester.ingestFacts(input),
      };
      expect(await openRules(database.db, failing).evaluateAll()).toBe(1);
      expect(await listEnds()).toEqual([-1]);
      switchTo(first);
      expect(await listEnds()).toEqual([]);
      expect(await rules.evaluateAll()).toBe(1);
      await deleteAlertRule(context(), { id });
    });

    it('reads the rules and counts of many at once, each with its own sessions and cut points', async () => {
      const { sql } = database.db;
      await sql`update alert_rules set enabled = false`;
      const open = async (name: string) => {
        switchTo(await openIntegration(name));
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
        switchTo(await openIntegration('busy'));
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
}
