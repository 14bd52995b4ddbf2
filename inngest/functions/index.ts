import type { Inngest } from 'inngest';
import type { Database } from '../../db/client';
import type { Dispatcher } from '../../server/webhooks/dispatcher';
import { createDeliveryFunctions } from './deliveries';
import { createHousekeepingFunctions } from './housekeeping';

/** Every function of the product, the same under Inngest and under the embedded engine. */
export function createFunctions(client: Inngest, services: { dispatcher: Dispatcher; db: Database }) {
  return [...createDeliveryFunctions(client, services.dispatcher), ...createHousekeepingFunctions(client, services.db)];
}
