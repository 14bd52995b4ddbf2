import { z } from 'zod';
import { text } from '../../contract/fields';
import { alerts } from '../../db/schema';
import { factId, factTime, UNTOUCHED, webUrl } from './fact-fields';
import { defineFact } from './fact-kind';
import { defineRecords, isSameRecord, type RecordRow } from './records';

const ALERTS = defineRecords({ table: alerts, key: ['id'], isOfSession: false });

/** An alert rule fired, ours or the customer's. */
export const alertFiredFact = defineFact({
  schema: z.object({
    kind: z.literal('alertFired'),
    alertId: factId(),
    // Any text, because customers name the severities of their own rules.
    severity: text(1, 64).transform((severity) => severity.toLowerCase()),
    message: text(1, 4096),
    triggeredAt: factTime(),
    alertUrl: webUrl().nullish(),
    /** Of ours: the rule, and the window in which it held. */
    ruleId: factId().nullish(),
    windowStart: factTime().nullish(),
    windowEnd: factTime().nullish(),
  }),
  records: ALERTS,
  nameKeys(fact, keys) {
    keys.nameRecord(ALERTS, { integrationId: keys.integrationId, id: fact.alertId });
  },
  apply(fact, draft) {
    const { alertId, severity, message, triggeredAt } = fact;
    const alertUrl = fact.alertUrl ?? null;
    const alert: RecordRow<typeof ALERTS> = {
      integrationId: draft.integrationId,
      id: alertId,
      severity,
      message,
      triggeredAt,
      url: alertUrl,
      ruleId: fact.ruleId ?? null,
      windowStart: fact.windowStart ?? null,
      windowEnd: fact.windowEnd ?? null,
      ...UNTOUCHED,
    };
    const existing = draft.findRecord(ALERTS, alert);
    if (existing) return draft.repeat(fact.kind, alertId, isSameRecord({ ...existing, ...UNTOUCHED }, alert));
    draft.assertNotAhead('triggeredAt', triggeredAt);
    draft.addRecord(ALERTS, alert);
    draft.fireEvent('AlertTriggered', { alertId, severity, message, triggeredAt, alertUrl });
    return 'accepted';
  },
});
