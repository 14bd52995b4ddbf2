import type { Inngest } from 'inngest';
import type { Database } from '../../db/client';
import { pruneRateWindows } from '../../server/domain/rate-windows';
import { pruneSessions } from '../../server/domain/retention';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { pruneDeliveries, pruneEvents } from '../../server/webhooks/retention';

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
  const pruneLog = client.createFunction(
    {
      id: 'prune-deliveries',
      name: 'Forget deliveries that ended, and events that fired, long ago',
      triggers: [{ cron: '17 * * * *' }],
      retries: 0,
    },
    async ({ step }) => {
      await step.run('prune', () => pruneDeliveries(db));
      await step.run('prune-events', () => pruneEvents(db));
    },
  );
  const foldCounts = client.createFunction(
    {
      id: 'fold-session-deltas',
      name: 'Fold changes of sessions into the counts',
      triggers: [{ cron: '* * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('fold', () => foldSessionDeltas(db)),
  );
  const pruneOldSessions = client.createFunction(
    {
      id: 'prune-sessions',
      name: 'Remove sessions that are older than their plan keeps them',
      triggers: [{ cron: '47 * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('prune', () => pruneSessions(db)),
  );
  return [pruneWindows, pruneLog, foldCounts, pruneOldSessions];
}
