import { type CreateAlertRuleInput, createAlertRuleInput } from '../../contract/alert-rules';
import { asOperator } from '../audit/acts';
import { createAlertRule, listAlertRules } from '../domain/alert-rules';
import { listCourses } from '../domain/directories';
import { findIntegration } from '../domain/integrations';
import { foldSessionDeltas } from '../domain/rollups';
import type { Fact } from '../pipeline/facts';
import type { Service } from '../service';

const DAY_MS = 86_400_000;
const DAY_MINUTES = 1_440;

/**
 * Creates alert rules, and sends the alerts that they would have fired in the last 30 days, as the preview finds them in the
 * sessions of the demo. Older ones are acknowledged and resolved.
 */
export async function createDemoRules({ db, secrets, ingester, alertRules }: Service, integrationId: string) {
  // The courses are read from the counts.
  await foldSessionDeltas(db);
  const { integration } = (await findIntegration(db, integrationId))!;
  const context = { ...asOperator(db), integration, secrets, cursorKey: secrets.cursorKey };
  // A demo that a crash interrupted may have some of them.
  const known = new Set((await listAlertRules(context)).map(({ name }) => name));
  const [course] = (await listCourses(context, { pageSize: 1 })).data;
  for (const rule of listRules(course?.id ?? null)) {
    if (known.has(rule.name)) continue;
    const { firings } = await alertRules.preview(integrationId, rule);
    const { id } = await createAlertRule(context, rule);
    const facts = firings.map(
      ({ windowStart, windowEnd, message }): Fact => ({
        ...{ kind: 'alertFired', alertId: `demo-${id}-${Date.parse(windowEnd)}`, severity: rule.severity, message },
        ...{ triggeredAt: windowEnd, ruleId: id, windowStart, windowEnd },
      }),
    );
    if (facts.length > 0) await ingester.ingestFacts({ integrationId, facts });
  }
  const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
  await db.query(TOUCH, [integrationId, ago(3), ago(10)]);
}

function listRules(courseId: string | null): CreateAlertRuleInput[] {
  const common = { comparison: 'gte', scope: { kind: 'integration' } };
  const bots = { ...common, metric: 'botSessions', message: '{{value}} bot sessions within {{window}} in {{scope}}' };
  const rules = [
    { ...bots, name: 'Bots within a day', windowMinutes: DAY_MINUTES, value: 5, severity: 'high' },
    ...(courseId === null
      ? []
      : [
          {
            ...{ ...bots, name: 'Bots in a course', windowMinutes: 7 * DAY_MINUTES, value: 2, severity: 'medium' },
            scope: { kind: 'course', value: courseId },
          },
        ]),
    {
      ...{ ...common, name: 'Many of the visitors are bots', metric: 'botShare', windowMinutes: DAY_MINUTES },
      ...{
        value: 30,
        minSessions: 10,
        severity: 'medium',
        message: '{{value}} of the sessions within {{window}} are bots',
      },
    },
    {
      ...{ ...common, name: 'Webhooks fail', metric: 'failedDeliveries', windowMinutes: 60, value: 10 },
      ...{ severity: 'low', message: '{{value}} deliveries failed within {{window}}' },
    },
  ];
  return rules.map((rule) => createAlertRuleInput.parse(rule));
}

const TOUCH = `
  update alerts set acknowledged_at = triggered_at + interval '40 minutes',
                    resolved_at = case when triggered_at < $3::timestamptz then triggered_at + interval '3 hours' end
   where integration_id = $1 and triggered_at < $2::timestamptz and acknowledged_at is null`;
