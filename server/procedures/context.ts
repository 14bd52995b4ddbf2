import type { Staff } from '../../contract/staff';
import type { VerifiedKey } from '../domain/key-verifier';
import type { Service } from '../service';

/**
 * The caller: a customer whose key REST has verified, a signed-in member of staff (`integrationId` is the integration that
 * they look at), or anybody else, perhaps with the pipeline's token.
 */
export type Caller =
  | { kind: 'api-key'; verified: VerifiedKey }
  | { kind: 'staff'; staff: Staff; integrationId: string | null; clientAddress: string | null }
  | { kind: 'bearer'; token: string | null };

/** The context of every procedure. */
export interface Context {
  service: Service;
  caller: Caller;
}
