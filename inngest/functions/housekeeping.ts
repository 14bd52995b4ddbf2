import type { Inngest } from 'inngest';
import type { Database } from '../../db/client';
import { pruneRateWindows } from '../../server/domain/rate-windows';

/** The functions that keep the tables small. */
export function createHousekeepingFunctions(client: Inngest, db: Database) {
  const pruneWindows = client.createFunction(
    {
      id: 'prune-rate-windows',
      name: 'Forget past rate-limit windows',
      triggers: [{ cron: '*/5 * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('prune', () => pruneRateWindows(db)),
  );
  return [pruneWindows];
}
