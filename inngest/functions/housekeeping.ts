import type { Inngest } from 'inngest';

/** What the housekeeping functions call. Each job returns the number of affected rows. */
export interface HousekeepingJobs {
  pruneRateWindows: () => Promise<number>;
  pruneDeliveries: () => Promise<number>;
  pruneEvents: () => Promise<number>;
  foldSessionDeltas: () => Promise<number>;
  pruneSessions: () => Promise<number>;
}

/** The functions that keep the tables small. */
export function createHousekeepingFunctions(client: Inngest, jobs: HousekeepingJobs) {
  const pruneWindows = client.createFunction(
    {
      id: 'prune-rate-windows',
      name: 'Remove past rate-limit windows',
      triggers: [{ cron: '*/5 * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('prune', () => jobs.pruneRateWindows()),
  );
  const pruneLog = client.createFunction(
    {
      id: 'prune-deliveries',
      name: 'Remove old deliveries and events',
      triggers: [{ cron: '17 * * * *' }],
      retries: 0,
    },
    async ({ step }) => {
      await step.run('prune', () => jobs.pruneDeliveries());
      await step.run('prune-events', () => jobs.pruneEvents());
    },
  );
  const foldCounts = client.createFunction(
    {
      id: 'fold-session-deltas',
      name: 'Fold changes of sessions into the counts',
      triggers: [{ cron: '* * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('fold', () => jobs.foldSessionDeltas()),
  );
  const pruneOldSessions = client.createFunction(
    {
      id: 'prune-sessions',
      name: 'Remove sessions beyond the retention of their plan',
      triggers: [{ cron: '47 * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('prune', () => jobs.pruneSessions()),
  );
  return [pruneWindows, pruneLog, foldCounts, pruneOldSessions];
}
