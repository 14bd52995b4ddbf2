import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { text } from '../../contract/fields';
import type { AlertRow, BatchDraft, FactResult } from './draft';
import { factId, factTime } from './fact-fields';

export const alertFired = z.object({
  kind: z.literal('alertFired'),
  alertId: factId(),
  // Rules are the customer's own, and so are their words for it.
  severity: text(1, 64).transform((severity) => severity.toLowerCase()),
  message: text(1, 4096),
  triggeredAt: factTime(),
  alertUrl: text(1, 8192).nullish(),
});

/** A rule of the customer's fired. */
export function applyAlertFired(fact: z.output<typeof alertFired>, draft: BatchDraft): FactResult {
  const { alertId, severity, message, triggeredAt } = fact;
  const alertUrl = fact.alertUrl ?? null;
  const alert: AlertRow = {
    integrationId: draft.integrationId,
    id: alertId,
    severity,
    message,
    triggeredAt,
    url: alertUrl,
  };
  const existing = draft.findRecord('alerts', alert);
  if (existing) return draft.repeat(fact.kind, alertId, isDeepStrictEqual(existing, alert));
  draft.assertNotAhead('triggeredAt', triggeredAt);
  draft.addRecord('alerts', alert);
  draft.tell('AlertTriggered', { alertId, severity, message, triggeredAt, alertUrl });
  return 'accepted';
}
