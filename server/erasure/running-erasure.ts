import type { ErasurePosition } from '../../db/schema';
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
