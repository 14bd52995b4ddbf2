import type { VerifiedKey } from '../domain/api-keys';
import type { Service } from '../service';

/** Who calls: a customer's key that REST has verified, or whoever knows the pipeline's token. */
export type Caller = { kind: 'api-key'; verified: VerifiedKey } | { kind: 'bearer'; token: string | null };

/** What every procedure gets. */
export interface Context {
  service: Service;
  caller: Caller;
}
