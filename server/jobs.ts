import type { Database } from '../db/client';
import type { Jobs } from '../inngest/functions';
import { pruneTries } from './auth/tries';
import type { Collector } from './collector/collector';
import { createPartitions, pruneTraces } from './collector/retention';
import { pruneAuditEntries } from './domain/audit-entries';
import { pruneIdempotencyKeys } from './domain/idempotency-keys';
import { foldIncidents, recountMinutes } from './domain/minute-counts';
import { pruneRateWindows } from './domain/rate-windows';
import { pruneFindings, pruneReviewDraws, pruneSessions } from './domain/retention';
import { drawReviewSamples } from './domain/review-draws';
import { foldSessionDeltas } from './domain/rollups';
import { foldOutcomes } from './domain/usage';
import type { Erasures } from './erasure/erasures';
import type { AlertRules } from './findings/alert-rules';
import type { FindingsOutbox } from './findings/outbox';
import type { Env } from './platform/env';
import type { ReportService } from './reports/reports';
import type { Dispatcher } from './webhooks/dispatcher';
import type { OperatorNotices } from './webhooks/operator-notices';
import {
  pruneAnswers,
  pruneDeliveries,
  pruneEvents,
  prunePreviousSecrets,
  pruneSubscriptions,
} from './webhooks/retention';

/** Connects the engine's functions to our code. The types of both sides must match here. */
export const createJobs = ({
  env,
  db,
  dispatcher,
  operatorNotices,
  collector,
  findings,
  alertRules,
  reports,
  erasures,
}: {
  env: Env;
  db: Database;
  dispatcher: Dispatcher;
  operatorNotices: OperatorNotices | null;
  collector: Collector;
  findings: FindingsOutbox;
  alertRules: AlertRules;
  reports: ReportService;
  erasures: Erasures;
}): Jobs => ({
  ...reports.jobs,
  ...erasures.jobs,
  drainSubscription: dispatcher.drainSubscription,
  wakeSubscription: dispatcher.wakeSubscription,
  sweep: dispatcher.sweep,
  tellOperator: operatorNotices?.tell ?? null,
  pruneRateWindows: () => pruneRateWindows(db),
  pruneSignInWindows: () => pruneTries(db),
  prunePreviousSecrets: () => prunePreviousSecrets(db),
  pruneDeliveries: () => pruneDeliveries(db),
  pruneAnswers: () => pruneAnswers(db, env.WEBHOOK_KEEP_ANSWERS),
  pruneSubscriptions: () => pruneSubscriptions(db),
  pruneEvents: () => pruneEvents(db),
  pruneIdempotencyKeys: () => pruneIdempotencyKeys(db),
  foldSessionDeltas: () => foldSessionDeltas(db),
  foldIncidents: () => foldIncidents(db),
  foldOutcomes: () => foldOutcomes(db),
  recountMinutes: () => recountMinutes(db),
  pruneSessions: () => pruneSessions(db),
  pruneFindings: () => pruneFindings(db),
  pruneReviewDraws: () => pruneReviewDraws(db),
  drawReviewSamples: () => drawReviewSamples(db),
  pruneAuditEntries: () => pruneAuditEntries(db),
  sweepCollected: collector.sweep,
  evaluateAlertRules: alertRules.evaluateAll,
  sweepFindings: findings.sweep,
  createPartitions: () => createPartitions(db),
  pruneTraces: () => pruneTraces(db, env.TRACE_DAYS),
});
