import type { Transaction } from '../../db/client';
import type { webhookSubscriptions } from '../../db/schema';
import { type Act, type Actor, recordAct } from '../audit/acts';

// What the audit log says of changes to subscriptions. A path or a query can be a secret, as those of chat services are, so only
// the origin of an address is written down.

type SubscriptionRow = typeof webhookSubscriptions.$inferSelect;

/** Shows an address without what may be secret. */
export const showUrl = (url: string) => {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
};

const subjectOf = ({ integrationId, id }: SubscriptionRow) => ({ integrationId, subjectId: id });

/** Describes a new subscription. */
export const describeCreation = (row: SubscriptionRow): Act => ({
  ...{ action: 'WebhookCreated', ...subjectOf(row) },
  details: { name: row.name, url: showUrl(row.url), eventType: row.eventType, enabled: row.enabled },
});

/** Records what differs between a subscription before and after a change: its fields, and whether it was switched. */
export async function recordChanges(
  tx: Transaction,
  actor: Actor,
  before: SubscriptionRow,
  after: SubscriptionRow,
): Promise<void> {
  const names = (['name', 'url', 'eventType', 'threshold'] as const).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const show = (row: SubscriptionRow) =>
    Object.fromEntries(names.map((name) => [name, name === 'url' ? showUrl(row.url) : row[name]]));
  if (names.length > 0) {
    const details = { name: before.name, before: show(before), after: show(after) };
    await recordAct(tx, actor, { action: 'WebhookChanged', ...subjectOf(after), details });
  }
  if (before.enabled === after.enabled) return;
  const action = after.enabled ? 'WebhookEnabled' : 'WebhookDisabled';
  await recordAct(tx, actor, { action, ...subjectOf(after), details: { name: after.name } });
}
