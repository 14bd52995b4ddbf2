import { setTimeout as sleep } from 'node:timers/promises';
import { type EventPayload, Inngest, type Logger, Middleware } from 'inngest';
import type { Region } from '../contract/integrations';
import {
  type ErasureRequested,
  erasureRequested,
  type ReportRequested,
  type RetryScheduled,
  reportRequested,
  retryScheduled,
  type SubscriptionDue,
  subscriptionDue,
  sweepRequested,
} from './events';
import { disableAsyncContext } from './inngest-internals';

/**
 * Creates the Inngest client. Each region is its own Inngest app. With `embeddedFetch`, the client sends everything to the
 * embedded engine. Otherwise the SDK reads the INNGEST_* settings and talks to that server.
 */
export function createInngestClient(options: {
  region: Region;
  logger: Logger;
  onRun: OnRun;
  onCall: OnCall;
  embeddedFetch?: typeof fetch;
}): Inngest {
  const { region, logger, onRun, onCall, embeddedFetch } = options;
  disableAsyncContext();
  return new Inngest({
    id: `bot-detection-${region}`,
    logger,
    // Not needed: what a function has done is stored in our own rows.
    checkpointing: false,
    middleware: [watchRuns(onRun, onCall)],
    ...(embeddedFetch ? { isDev: true, fetch: embeddedFetch } : { fetch: limitedFetch }),
  });
}

/** How long the engine has to take messages. The rows say which deliveries are due, so what it does not take is found later. */
const SEND_LIMIT_MS = 5_000;

/**
 * How long a try has of it. The next one gets another connection: the network may have forgotten the one that `fetch` has kept,
 * above all while the process was frozen between two requests (on a serverless platform).
 */
const TRY_LIMIT_MS = 2_000;

/** Ends each try of the SDK to send events, which would wait five minutes for a server that accepts connections and never answers. */
const limitedFetch: typeof fetch = (input, init) => {
  // The base URL may have a path.
  const isSend = new URL(input instanceof Request ? input.url : input).pathname.includes('/e/');
  return fetch(input, isSend ? { ...init, signal: AbortSignal.timeout(TRY_LIMIT_MS) } : init);
};

type OnRun = (run: { function: string; outcome: 'completed' | 'failed' | 'retried' }) => void;
/** A call executes one step, or what follows the last one. */
type OnCall = (call: { function: string; durationMs: number }) => void;

/** Reports runs that end, attempts that fail and the time of each call, under an Inngest server and under the embedded engine. */
function watchRuns(onRun: OnRun, onCall: OnCall) {
  return class extends Middleware.BaseMiddleware {
    readonly id = 'watch-runs';

    override async wrapRequest({ fn, next }: Middleware.WrapRequestArgs) {
      const startedAt = performance.now();
      try {
        return await next();
      } finally {
        if (fn) onCall({ function: fn.id(), durationMs: performance.now() - startedAt });
      }
    }

    override onRunComplete({ fn }: Middleware.OnRunCompleteArgs) {
      onRun({ function: fn.id(), outcome: 'completed' });
    }

    override onRunError({ fn, isFinalAttempt }: Middleware.OnRunErrorArgs) {
      onRun({ function: fn.id(), outcome: isFinalAttempt ? 'failed' : 'retried' });
    }
  };
}

const EVENTS_PER_SEND = 500;

/** The messages that the server sends to the functions, each as an Inngest event. */
export interface Messages {
  sendDue: (subscriptions: SubscriptionDue[]) => Promise<void>;
  sendWakeUps: (retries: RetryScheduled[]) => Promise<void>;
  sendSweep: () => Promise<void>;
  sendReports: (reports: ReportRequested[]) => Promise<void>;
  sendErasures: (erasures: ErasureRequested[]) => Promise<void>;
}

/** Creates the messages that a client sends. Each rejects if the engine does not take it in time: requests and the stop wait for it. */
export function createMessages(client: Inngest): Messages {
  async function send(events: EventPayload[]): Promise<void> {
    const over = new AbortController();
    const late = sleep(SEND_LIMIT_MS, undefined, { signal: over.signal }).then(() => {
      throw new Error('the engine does not answer');
    });
    try {
      await Promise.race([client.send(events), late]);
    } finally {
      over.abort();
    }
  }
  async function sendAll<T>(items: T[], create: (item: T) => EventPayload): Promise<void> {
    for (let from = 0; from < items.length; from += EVENTS_PER_SEND) {
      await send(items.slice(from, from + EVENTS_PER_SEND).map(create));
    }
  }
  return {
    sendDue: (subscriptions) => sendAll(subscriptions, (data) => subscriptionDue.create(data)),
    sendWakeUps: (retries) => sendAll(retries, (data) => retryScheduled.create(data)),
    sendSweep: () => send([sweepRequested.create({})]),
    sendErasures: (erasures) => sendAll(erasures, (data) => erasureRequested.create(data)),
    sendReports: (reports) => sendAll(reports, (data) => reportRequested.create(data)),
  };
}
