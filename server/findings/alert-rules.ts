import { createHash } from 'node:crypto';
import { type AlertRulePreview, MAX_ALERT_RULES, type PreviewAlertRuleInput } from '../../contract/alert-rules';
import type { Database } from '../../db/client';
import { selectColumns } from '../../db/recordset';
import { alertRules } from '../../db/schema';
import { type Fact, MAX_FACTS } from '../pipeline/facts';
import { type Ingester, isInvalidFactError } from '../pipeline/ingest';
import type { Logger } from '../platform/log';
import { readSeries } from './alert-counts';
import { type Ends, findDueEnds, findFirings, findOldestFiring } from './alert-decision';
import { writeMessage } from './alert-message';
import { previewAlertRule, toInstant, toMinute } from './alert-preview';
import { createPacer } from './pacer';

// Alert rules: when they are judged, and how each alert is sent exactly once (docs/alert-rules.md).

export interface AlertRules {
  /** Judges the rules of an integration. Returns how many alerts it sent. `at` is the time, by default that of the database. */
  evaluate(integrationId: string, at?: string): Promise<number>;
  /** Judges the rules of all integrations. A failure of one does not keep the others from being judged. */
  evaluateAll(): Promise<number>;
  /** Says that something which rules count has changed. Processes with timers then judge at once, but at most every two seconds. */
  noteChanges(integrationIds: string[]): void;
  preview(integrationId: string, rule: PreviewAlertRuleInput): Promise<AlertRulePreview>;
  /** Waits for a judgement that is under way, and starts no more. */
  stop(): Promise<void>;
}

const JUDGE_AFTER_MS = 2_000;
/** A rule fires at most so often in one judgement. The next one goes on. */
const MAX_FIRINGS = 20;
/** The rules of so many integrations are read at once, so that thousands of integrations with a rule or two are judged in time. */
const INTEGRATIONS_AT_ONCE = 25;

const SHOWN = [
  ...([
    'integrationId',
    'id',
    'version',
    'name',
    'metric',
    'anomalyType',
    'minSeverity',
    'scope',
    'scopeValue',
    'windowMinutes',
  ] as const),
  ...(['comparison', 'value', 'minSessions', 'severity', 'message', 'coolDownMinutes', 'judgedFrom'] as const),
];
type RuleRow = Pick<typeof alertRules.$inferSelect, (typeof SHOWN)[number]> & {
  isJudged: boolean;
  firedEnds: number[];
  unsent: Fact[] | null;
  courseName: string | null;
  now: string;
};

/** Creates the process's alert rules. */
export function createAlertRules(dependencies: {
  db: Database;
  log: Logger;
  ingester: Ingester;
  publicUrl: string | null;
  hasTimers: boolean;
}): AlertRules {
  const { db, log, ingester, publicUrl, hasTimers } = dependencies;

  async function evaluate(integrationIds: string[], at: string | null = null): Promise<number> {
    const rules = await db.query<RuleRow>(READ_RULES, [JSON.stringify(integrationIds), at]);
    let sent = 0;
    // Claimed by a process that died before it sent them.
    for (const { integrationId, id, unsent } of rules) if (unsent) sent += await send(integrationId, id, unsent);
    const judged = rules.flatMap((rule) => {
      const ends = rule.isJudged ? findDueEnds(rule, toMinute(rule.now), toMinute(rule.judgedFrom)) : null;
      return ends ? [{ rule, ends, counted: rule }] : [];
    });
    for (let n = 0; n < judged.length; n += MAX_ALERT_RULES) sent += await fire(judged.slice(n, n + MAX_ALERT_RULES));
    return sent;
  }

  /** Fires rules whose windows are due, as many as one statement counts for within its time limit. Returns how many alerts it sent. */
  async function fire(judged: { rule: RuleRow; ends: Ends; counted: RuleRow }[]): Promise<number> {
    let sent = 0;
    const series = await readSeries(db, judged);
    for (const [index, { rule, ends }] of judged.entries()) {
      const { integrationId } = rule;
      const firings = findFirings(rule, series[index]!, ends, rule.firedEnds, MAX_FIRINGS);
      if (firings.length === 0) continue;
      const kept = rule.firedEnds.filter((end) => end > findOldestFiring(rule, ends));
      const facts = firings.map((firing) => makeFact(rule, firing, publicUrl));
      const [claimed] = await db.query<{ id: string }>(CLAIM, [
        ...[integrationId, rule.id, rule.version, `{${rule.firedEnds}}`],
        ...[`{${[...kept, ...firings.map(({ end }) => end)]}}`, JSON.stringify(facts)],
      ]);
      // Another process has claimed an alert of the rule meanwhile, or the rule was changed. The next judgement sees that.
      if (claimed) sent += await send(integrationId, rule.id, facts);
    }
    return sent;
  }

  /** Sends claimed alerts. If that fails, the claim stays, and the next judgement sends them: their ids are the same. */
  async function send(integrationId: string, ruleId: string, facts: Fact[]): Promise<number> {
    let accepted = 0;
    try {
      for (let n = 0; n < facts.length; n += MAX_FACTS)
        accepted += (await ingester.ingestFacts({ integrationId, facts: facts.slice(n, n + MAX_FACTS), isOurs: true }))
          .accepted;
    } catch (error) {
      if (!isInvalidFactError(error)) throw error;
      // A fault of ours. No repeat would help, and the rule must not stop.
      log.error({ err: error, integrationId, ruleId }, 'an alert was refused');
    }
    await db.query(FORGET, [integrationId, ruleId, JSON.stringify(facts)]);
    return accepted;
  }

  async function evaluateEach(
    integrations: { integrationId: string }[],
    atOnce = INTEGRATIONS_AT_ONCE,
  ): Promise<number> {
    let sent = 0;
    for (let n = 0; n < integrations.length; n += atOnce) {
      const some = integrations.slice(n, n + atOnce);
      try {
        sent += await evaluate(some.map(({ integrationId }) => integrationId));
      } catch (error) {
        if (some.length > 1) sent += await evaluateEach(some, 1);
        else
          log.warn({ err: error, ...some[0] }, 'could not judge alert rules; the cron of the next minute retries it');
      }
    }
    return sent;
  }

  const pacer = createPacer(JUDGE_AFTER_MS, async (integrationIds) => {
    try {
      await evaluateEach(await db.query(FIND_CHANGED, [JSON.stringify(integrationIds)]));
    } catch (error) {
      log.warn({ err: error }, 'could not judge alert rules; the cron of the next minute retries it');
    }
  });

  return {
    evaluate: (integrationId, at) => evaluate([integrationId], at),
    evaluateAll: async () => evaluateEach(await db.query(FIND_ALL, [])),
    noteChanges: hasTimers ? pacer.note : () => {},
    preview: (integrationId, rule) => previewAlertRule(db, integrationId, rule),
    stop: pacer.stop,
  };
}

const ID_LENGTH = 22;

/** The id of an alert follows from the rule, its version and the window, so that an alert that is sent again is a duplicate. */
function makeAlertId({ integrationId, id, version }: RuleRow, end: number): string {
  const hash = createHash('sha256').update([integrationId, 'alert-rule', id, version, end].join('\n'));
  return `alr_${hash.digest('base64url').slice(0, ID_LENGTH)}`;
}

function makeFact(rule: RuleRow, { end, value }: { end: number; value: number }, publicUrl: string | null): Fact {
  const { integrationId } = rule;
  const alertId = makeAlertId(rule, end);
  return {
    kind: 'alertFired',
    alertId,
    severity: rule.severity,
    message: writeMessage(rule, value),
    triggeredAt: rule.now,
    alertUrl: publicUrl && `${publicUrl}/dashboard/${encodeURIComponent(integrationId)}/alerts?selected=${alertId}`,
    ruleId: rule.id,
    windowStart: toInstant(end - rule.windowMinutes),
    windowEnd: toInstant(end),
  };
}

const IS_JUDGED = 'r.enabled and r.deleted_at is null';
const IS_DUE = `(${IS_JUDGED} or r.unsent is not null)`;

const READ_RULES = `
  select ${selectColumns(alertRules, 'r', SHOWN)}, to_json(r.fired_ends) as "firedEnds", r.unsent, ${IS_JUDGED} as "isJudged",
         c.name as "courseName", coalesce($2::timestamptz, now()) as now
    from alert_rules r
    left join courses c on c.integration_id = r.integration_id and r.scope = 'course' and c.id = r.scope_value
   where r.integration_id in (select json_array_elements_text($1::text::json)) and ${IS_DUE}
   order by r.integration_id, r.id`;

/**
 * If several processes want to fire, one finds the rule as it read it, and its alerts count. The others see in their next
 * judgement that the rule has fired.
 */
const CLAIM = `
  update alert_rules r
     set fired_ends = $5::text::int[], unsent = $6::text::jsonb
   where r.integration_id = $1 and r.id = $2 and r.version = $3 and ${IS_JUDGED} and r.unsent is null
     and r.fired_ends = $4::text::int[]
  returning r.id`;

const FORGET =
  'update alert_rules set unsent = null where integration_id = $1 and id = $2 and unsent = $3::text::jsonb';

const FIND_ALL = `select distinct r.integration_id as "integrationId" from alert_rules r where ${IS_DUE} order by 1`;
const FIND_CHANGED = `
  select distinct r.integration_id as "integrationId" from alert_rules r
   where r.integration_id in (select json_array_elements_text($1::text::json)) and ${IS_DUE} order by 1`;
