import type { Inngest } from 'inngest';
import { runEach } from './steps';

/** What the housekeeping functions call. Each job returns the number of affected rows. */
export interface HousekeepingJobs {
  pruneRateWindows: () => Promise<number>;
  pruneSignInWindows: () => Promise<number>;
  prunePreviousSecrets: () => Promise<number>;
  pruneDeliveries: () => Promise<number>;
  pruneAnswers: () => Promise<number>;
  pruneSubscriptions: () => Promise<number>;
  pruneEvents: () => Promise<number>;
  pruneIdempotencyKeys: () => Promise<number>;
  foldSessionDeltas: () => Promise<number>;
  foldIncidents: () => Promise<number>;
  foldOutcomes: () => Promise<number>;
  recountMinutes: () => Promise<number>;
  pruneSessions: () => Promise<number>;
  pruneFindings: () => Promise<number>;
  pruneReviewDraws: () => Promise<number>;
  pruneReports: () => Promise<number>;
  pruneAuditEntries: () => Promise<number>;
  sweepCollected: () => Promise<number>;
  sweepFindings: () => Promise<number>;
  createPartitions: () => Promise<number>;
  pruneTraces: () => Promise<number>;
  drawReviewSamples: () => Promise<number>;
}

/** A job that has much to remove ends after 20 s. So it takes ten minutes of the hour at most. */
const MAX_RUNS = 30;

/** The functions that keep the tables small. What may take long comes last: on a serverless platform, what comes after it may not run. */
export function createHousekeepingFunctions(client: Inngest, jobs: HousekeepingJobs) {
  const pruneWindows = client.createFunction(
    {
      id: 'prune-rate-windows',
      name: 'Remove past windows of rate limits and sign-in attempts, and rotated secrets',
      triggers: [{ cron: '*/5 * * * *' }],
      retries: 0,
    },
    ({ step }) =>
      runEach(step, [
        ['prune', jobs.pruneRateWindows],
        ['prune-sign-in', jobs.pruneSignInWindows],
        ['prune-secrets', jobs.prunePreviousSecrets],
      ]),
  );
  const pruneLog = client.createFunction(
    {
      id: 'prune-deliveries',
      name: 'Remove old deliveries, events and idempotency keys',
      triggers: [{ cron: '17 * * * *' }],
      retries: 0,
    },
    ({ step }) =>
      runEach(step, [
        ['prune-answers', jobs.pruneAnswers],
        ['prune-idempotency-keys', jobs.pruneIdempotencyKeys],
        ['prune', jobs.pruneDeliveries, MAX_RUNS],
        ['prune-subscriptions', jobs.pruneSubscriptions],
        ['prune-events', jobs.pruneEvents],
      ]),
  );
  const foldCounts = client.createFunction(
    {
      id: 'fold-session-deltas',
      name: 'Fold changes of sessions into the counts',
      triggers: [{ cron: '* * * * *' }],
      retries: 0,
    },
    ({ step }) =>
      runEach(step, [
        ['fold', jobs.foldSessionDeltas],
        ['fold-incidents', jobs.foldIncidents],
        ['fold-outcomes', jobs.foldOutcomes],
        ['recount', jobs.recountMinutes],
      ]),
  );
  const pruneOldSessions = client.createFunction(
    {
      id: 'prune-sessions',
      name: 'Remove sessions and findings beyond the retention of their plan',
      triggers: [{ cron: '47 * * * *' }],
      retries: 0,
    },
    ({ step }) =>
      runEach(step, [
        ['prune-reports', jobs.pruneReports, MAX_RUNS],
        ['prune-draws', jobs.pruneReviewDraws],
        ['prune-audit', jobs.pruneAuditEntries],
        ['prune', jobs.pruneSessions, MAX_RUNS],
        ['prune-findings', jobs.pruneFindings],
      ]),
  );
  /** Processes with timers do this every second. Where there are none, sessions of pages close within two minutes. */
  const sweepCollected = client.createFunction(
    {
      id: 'sweep-collected-sessions',
      name: 'Close sessions of pages that are over',
      triggers: [{ cron: '* * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('sweep', () => jobs.sweepCollected()),
  );
  /** Processes with timers do this every second. */
  const sweepFindings = client.createFunction(
    {
      id: 'sweep-findings',
      name: 'Judge facts that the process which wrote them did not judge',
      triggers: [{ cron: '* * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('sweep', () => jobs.sweepFindings()),
  );
  const keepTraces = client.createFunction(
    {
      id: 'prune-traces',
      name: 'Remove old traces, and make the partitions of the next days',
      triggers: [{ cron: '7 * * * *' }],
      retries: 2,
    },
    ({ step }) =>
      runEach(step, [
        ['prune', jobs.pruneTraces],
        ['create', jobs.createPartitions],
      ]),
  );
  /** A day that failed is drawn in the next hour. */
  const drawSamples = client.createFunction(
    {
      id: 'draw-review-samples',
      name: 'Draw random sessions of the day before for review',
      triggers: [{ cron: '11 * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('draw', () => jobs.drawReviewSamples()),
  );
  return [pruneWindows, pruneLog, foldCounts, pruneOldSessions, sweepCollected, sweepFindings, keepTraces, drawSamples];
}
