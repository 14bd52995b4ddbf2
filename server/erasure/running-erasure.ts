import type { Query } from '../../db/client';
import type { ErasureCounts, ErasurePosition } from '../../db/schema';
import type { MentionFinder } from '../domain/mentions';

/** An erasure that runs. */
export interface RunningErasure {
  integrationId: string;
  id: string;
  userId: string;
  pseudonym: string;
  requestedAt: string;
  position: ErasurePosition;
  finder: MentionFinder;
  erasureKey: Buffer;
}

/**
 * Adds to the counts of the receipt, in the transaction that did the work. So a process that dies afterwards loses none, and the
 * repeated step, which finds nothing to do, adds none.
 */
export async function addCounts(
  query: Query,
  { integrationId, id }: Pick<RunningErasure, 'integrationId' | 'id'>,
  counts: Partial<ErasureCounts>,
): Promise<void> {
  await query(ADD, [integrationId, id, JSON.stringify(counts)]);
}

const ADD = `
  update user_erasures e
     set counts = (select jsonb_object_agg(key, value::int + coalesce(($3::text::jsonb ->> key)::int, 0)) from jsonb_each(e.counts))
   where integration_id = $1 and id = $2`;
