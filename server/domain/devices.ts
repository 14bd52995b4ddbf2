import { sql } from 'drizzle-orm';
import {
  type ConfirmDeviceInput,
  type DeviceConfirmation,
  SUPPRESSED_ANOMALY_TYPES,
  type UserDevice,
} from '../../contract/users';
import { deviceConfirmations } from '../../db/schema';

import type { DomainContext } from './context';
import { ENTITIES } from './rollups';

/**
 * Confirms a device as a user's own. A repeat refreshes `confirmedAt`, and its notes, if given, replace the old ones
 * (specification: Rule 3). An unknown pair is registered. Later anomalies of two types about the pair are suppressed.
 */
export async function confirmDevice(context: DomainContext, input: ConfirmDeviceInput): Promise<DeviceConfirmation> {
  const { userId, fingerprint, notes } = input;
  const [confirmed] = await context.db.orm
    .insert(deviceConfirmations)
    .values({ integrationId: context.integration.id, userId, fingerprint, notes: notes ?? null })
    .onConflictDoUpdate({
      target: [deviceConfirmations.integrationId, deviceConfirmations.userId, deviceConfirmations.fingerprint],
      set: { confirmedAt: sql`now()`, ...(notes == null ? {} : { notes }) },
    })
    .returning();
  const { confirmedAt, firstConfirmedAt } = confirmed!;
  return { userId, fingerprint, confirmedAt, firstConfirmedAt, suppresses: [...SUPPRESSED_ANOMALY_TYPES] };
}

/** Lists the devices with sessions of a user and those confirmed as the user's own, latest first, at most 200. */
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
    select fingerprint, confirmed_at, first_confirmed_at from device_confirmations
     where integration_id = $1 and user_id = $2)
  select fingerprint, coalesce(sessions, 0) as "sessionCount",
         (select max(s.created_at) from sessions s
           where s.integration_id = $1 and s.user_id = $2 and s.fingerprint = d.fingerprint) as "lastSeenAt",
         confirmed_at as "confirmedAt", first_confirmed_at as "firstConfirmedAt"
    from (select * from used full join confirmed using (fingerprint)) d
   order by "lastSeenAt" desc nulls last, fingerprint limit 200`;
