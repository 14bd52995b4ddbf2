import type { Inngest } from 'inngest';
import { type ErasureRequested, erasureRequested } from '../events';

/** What the functions that erase users call. */
export interface ErasureJobs {
  /** Works on an erasure for some seconds. Returns when to go on, in milliseconds; null if there is nothing left to do. */
  continueErasure: (erasure: ErasureRequested) => Promise<number | null>;
  /** Wakes the runs of erasures whose wake-ups were lost, and ends refusals and receipts that are over. */
  wakeErasures: () => Promise<number>;
}

/** After so many steps a run ends. The next look at erasures begins another one. */
const MAX_STEPS = 200;
/** Inngest sleeps for no shorter time, and warns if it is asked to. */
const SHORTEST_SLEEP_MS = 1_000;

/** The functions that erase users. */
export function createErasureFunctions(client: Inngest, jobs: ErasureJobs) {
  const eraseUser = client.createFunction(
    {
      id: 'erase-user',
      name: 'Erase a user',
      triggers: [erasureRequested],
      retries: 5,
      concurrency: { limit: 1, key: 'event.data.integrationId' },
    },
    async ({ event, step }) => {
      for (let number = 0; number < MAX_STEPS; number++) {
        const pauseMs = await step.run(`work-${number}`, () => jobs.continueErasure(event.data));
        if (pauseMs === null) return;
        if (pauseMs > 0) await step.sleep(`pause-${number}`, Math.max(pauseMs, SHORTEST_SLEEP_MS));
      }
    },
  );

  const wakeErasures = client.createFunction(
    {
      id: 'wake-erasures',
      name: 'Find erasures that nobody works on',
      triggers: [{ cron: '* * * * *' }],
      retries: 0,
    },
    async ({ step }) => {
      await step.run('wake', () => jobs.wakeErasures());
    },
  );

  return [eraseUser, wakeErasures];
}
