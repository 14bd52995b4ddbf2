import type { RecoverDeliveriesInput, RecoveredDeliveries } from '../../contract/deliveries';
import { ApiError } from '../../contract/errors';
import type { Actor } from '../audit/acts';
import { assertKnown, lockActive, MAY_RESTART, RESTART } from './delivery-log';
import { MAX_SENT, sendSkipped } from './skipped-events';
import type { WebhookContext } from './subscriptions';

const RECOVERY_BATCH_SIZE = 1_000;

/**
 * Sends what a subscription missed within the time range: all failed deliveries again, and on request the events that it skipped
 * only because it was disabled, at most 1,000. NOT_FOUND for an unknown subscription. UNSUPPORTED_OPERATION if it is disabled or
 * deleted.
 */
export async function recoverDeliveries(
  context: WebhookContext & { actor: Actor },
  input: RecoverDeliveriesInput,
): Promise<RecoveredDeliveries> {
  const { id, startDate, endDate, includeSkipped } = input;
  const integrationId = context.integration.id;
  const { isActive, now } = await assertKnown(context, id);
  if (!isActive)
    throw new ApiError(
      'UNSUPPORTED_OPERATION',
      'The subscription is disabled or deleted: only enabled ones are sent to',
    );
  let recovered = 0;
  for (let found = RECOVERY_BATCH_SIZE; found === RECOVERY_BATCH_SIZE; recovered += found) {
    // Deliveries that fail again meanwhile are not restarted, because they ended after `now`.
    const batch = await context.db.query(RECOVER, [integrationId, id, startDate.at, endDate?.at ?? null, now]);
    found = batch.length;
    if (found > 0) context.publisher.publish([{ integrationId, subscriptionId: id }]);
  }
  const skippedSent = includeSkipped ? await sendSkipped(context, id, { from: startDate.at, until: endDate?.at }) : 0;
  return { recovered, skippedSent, hasMore: skippedSent === MAX_SENT };
}

// The lock is the one that `sendSkipped` takes after it. Each statement commits by itself: results of other deliveries wait for the lock.
const RECOVER = `
  with ${lockActive('$2', 'no key update')},
  failed as (
    select d.integration_id, d.id from webhook_deliveries d join active on d.integration_id = active.integration_id and d.subscription_id = active.id
     where d.status not in ('Pending', 'Delivered') and ${MAY_RESTART}
       and d.created_at >= $3::timestamptz and ($4::timestamptz is null or d.created_at < $4::timestamptz)
       and d.finished_at <= $5::timestamptz
     order by d.created_at, d.id limit ${RECOVERY_BATCH_SIZE} for update of d skip locked)
  ${RESTART}
    from failed where d.integration_id = failed.integration_id and d.id = failed.id
  returning 1`;
