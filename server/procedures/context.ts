import type { Staff } from '../../contract/staff';
import type { VerifiedKey } from '../domain/api-keys';
import type { Service } from '../service';

/**
 * Who calls: a customer's key that REST has verified, an employee who is signed in to the dashboard (`integrationId` is
 * the integration that they look at), or anybody else, who may know the pipeline's token.
 */
export type Caller =
  | { kind: 'api-key'; verified: VerifiedKey }
  | { kind: 'staff'; staff: Staff; integrationId: string | null; clientAddress: string | null }
  | { kind: 'bearer'; token: string | null };

/** What every procedure gets. */
export interface Context {
  service: Service;
  caller: Caller;
}
