import { and, eq, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import { isPseudonym } from '../../contract/pseudonyms';
import {
  type ConfirmDeviceInput,
  type DeviceConfirmation,
  type RevokeDeviceInput,
  SUPPRESSED_ANOMALY_TYPES,
  type UserDevice,
} from '../../contract/users';
import { deviceConfirmations } from '../../db/schema';
import { type AuditedContext, nameActor, recordAct } from '../audit/acts';
import type { Secrets } from '../platform/secrets';
import type { DomainContext } from './context';
import { ENTITIES } from './rollups';
import { assertNotErased } from './user-erasures';

/**
 * Confirms a device as a user's own. A repeat refreshes `confirmedAt`, and its notes, if given, replace the old ones
 * (specification: Rule 3). An unknown pair is registered. Later anomalies of two types about the pair are suppressed.
 */
export async function confirmDevice(
  { db, actor, secrets, integration: { id: integrationId } }: DomainContext & AuditedContext & { secrets: Secrets },
  { userId, fingerprint, notes }: ConfirmDeviceInput,
): Promise<DeviceConfirmation> {
  const confirmedBy = nameActor(actor);
  if (isPseudonym(userId)) throw new ApiError('UNSUPPORTED_OPERATION', 'The user was erased');
  return db.orm.transaction(async (tx) => {
    await assertNotErased(tx, secrets.erasureKey, { integrationId, userId });
    const [confirmed] = await tx
      .insert(deviceConfirmations)
      .values({ integrationId, userId, fingerprint, confirmedBy, notes: notes ?? null })
      .onConflictDoUpdate({
        target: [deviceConfirmations.integrationId, deviceConfirmations.userId, deviceConfirmations.fingerprint],
        set: { confirmedAt: CONFIRMED_AGAIN_AT, confirmedBy, ...(notes == null ? {} : { notes }) },
      })
      .returning();
    const { confirmedAt, firstConfirmedAt } = confirmed!;
    const details = { fingerprint, isFirst: confirmedAt === firstConfirmedAt };
    await recordAct(tx, actor, { action: 'DeviceConfirmed', integrationId, subjectId: userId, details });
    return { userId, fingerprint, confirmedAt, firstConfirmedAt, suppresses: [...SUPPRESSED_ANOMALY_TYPES] };
  });
}

/** Later than the confirmation before: this one may have begun earlier, and have waited for it. */
const CONFIRMED_AGAIN_AT = sql`greatest(now(), ${deviceConfirmations.confirmedAt} + interval '1 millisecond')`;

/**
 * Takes the confirmation of a device back, so that later anomalies about the pair are recorded again. Those that were suppressed
 * are not found later. NOT_FOUND if the pair is not confirmed.
 */
export async function revokeDevice(
  { db, actor, integration: { id: integrationId } }: DomainContext & AuditedContext,
  { userId, fingerprint }: RevokeDeviceInput,
): Promise<void> {
  const isPair = and(
    eq(deviceConfirmations.integrationId, integrationId),
    eq(deviceConfirmations.userId, userId),
    eq(deviceConfirmations.fingerprint, fingerprint),
  );
  await db.orm.transaction(async (tx) => {
    const [revoked] = await tx.delete(deviceConfirmations).where(isPair).returning();
    if (!revoked) throw new ApiError('NOT_FOUND', 'The device is not confirmed');
    const { confirmedAt, confirmedBy } = revoked;
    const details = { fingerprint, confirmedAt, confirmedBy };
    await recordAct(tx, actor, { action: 'DeviceConfirmationRevoked', integrationId, subjectId: userId, details });
  });
}

/**
 * Lists the devices with sessions of a user and those confirmed as the user's own, latest first, at most 200. If there are more, the
 * confirmed ones are among them: staff revoke a confirmation there.
 */
export function listUserDevices({ db, integration }: DomainContext, input: { userId: string }): Promise<UserDevice[]> {
  return db.query(LIST_DEVICES, [integration.id, input.userId]);
}

const LIST_DEVICES = `
  with pairs as (
    select other as fingerprint, sessions from entity_pairs where integration_id = $1 and kind = 'user' and value = $2
     union all
    select other, sign from session_deltas ${ENTITIES}
     where integration_id = $1 and kind = 'user' and value = $2 and other is not null),
  used as (select fingerprint, sum(sessions)::int as sessions from pairs group by fingerprint having sum(sessions) > 0),
  confirmed as (
    select fingerprint, confirmed_at, first_confirmed_at, confirmed_by from device_confirmations
     where integration_id = $1 and user_id = $2)
  select * from (
  select fingerprint, coalesce(sessions, 0) as "sessionCount",
         (select s.created_at from sessions s
           where s.integration_id = $1 and s.user_id = $2 and s.fingerprint = d.fingerprint
           order by s.created_at desc limit 1) as "lastSeenAt",
         confirmed_at as "confirmedAt", first_confirmed_at as "firstConfirmedAt", confirmed_by as "confirmedBy"
    from (select * from used full join confirmed using (fingerprint)) d
   order by (confirmed_at is null), "lastSeenAt" desc nulls last, fingerprint limit 200) listed
   order by "lastSeenAt" desc nulls last, fingerprint`;
