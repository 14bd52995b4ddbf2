import { sql } from 'drizzle-orm';
import { deviceConfirmations } from '../../db/schema';
import { type ConfirmDeviceInput, type DeviceConfirmation, SUPPRESSED_ANOMALY_TYPES } from '../contract/users';
import type { DomainContext } from './context';

/**
 * Confirms a device as a user's own; a repeat refreshes `confirmedAt`, and its notes replace the old ones where it has
 * any (specification: Rule 3). An unknown pair is registered. The pair's next anomalies of two types are suppressed.
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
