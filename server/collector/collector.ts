import { type Beacon, type BeaconAnswer, MAX_BEACON_BYTES } from '../../contract/beacon';
import { type Database, findFaultLevel } from '../../db/client';
import { readBeacon } from '../detection/batch';
import { packNumbers } from '../detection/varints';
import { createErasedUserFinder } from '../domain/erased-users';
import type { FoundSite } from '../domain/sites';
import type { Ingester } from '../pipeline/ingest';
import type { Env } from '../platform/env';
import type { Logger } from '../platform/log';
import type { Metrics } from '../platform/metrics';
import type { Secrets } from '../platform/secrets';
import { createAdmission } from './admission';
import {
  type ClientPlace,
  openNetworkFinder,
  openPlaceFinder,
  type PlatformPlace,
  readNetworkPrefix,
  readPlatformPlace,
} from './client-network';
import { createIntake, type StoredBatch } from './intake';
import { createJudge } from './judge';
import { chooseRetrySeconds, createMinuteCounter } from './limits';
import type { SignedMessage } from './message-signatures';
import { type KeptBatch, type NamedUser, packBatch, toDocumentNumber } from './packing';
import { createSchedule } from './schedule';
import { createSessions } from './session-state';
import { createAgentVerifier, type DirectoryClient } from './signed-agents';
import { createSiteFinder, findRefusal, type Refusal } from './site-access';
import { createSweeps } from './sweeps';
import { checkToken, deriveFingerprint, deriveSessionId, issueToken } from './tokens';
import { readUser } from './visitors';

/** A request to `/collect`, independent of the server that received it. */
export interface CollectRequest {
  origin: string | null;
  userAgent: string | null;
  /** The header `Sec-GPC`. */
  hasPrivacyControl: boolean;
  /** The client's address. It is reduced to a network, and never kept. */
  clientAddress: string;
  /** Where a trusted platform says the client is. */
  place: PlatformPlace | null;
  /** What an agent can have signed, if the request names one. */
  signed?: SignedMessage | null;
  /** Reads the body. Null if it is longer than MAX_BEACON_BYTES or the client has disconnected. */
  readBody(): Promise<Uint8Array | null>;
}

export type CollectAnswer =
  | { status: 200; answer: BeaconAnswer }
  | { status: 204 }
  | { status: 400; message: string }
  | { status: 503; retrySeconds: number };

/** What became of a request, for the metrics. */
export type CollectOutcome =
  | Refusal
  | ('kept' | 'repeated' | 'late' | 'malformed' | 'session-limit' | 'network-limit' | 'overload' | 'outage');

export interface Collector {
  /** Answers a beacon after it was committed. Never rejects. */
  collect(request: CollectRequest): Promise<CollectAnswer>;
  /** Starts looking for sessions that are over or that another process left behind. */
  start(): void;
  /** Closes what is over and judges what was left behind, once. Returns how many sessions it took. */
  sweep(): Promise<number>;
  /** Judges the sessions of the batches that were answered. For processes that may be frozen after a request. */
  flush(): Promise<void>;
  stop(): Promise<void>;
  /** Counts batches that wait for their commit, and sessions in memory. */
  load(): { waiting: number; sessions: number };
}

const NO_PLACE: ClientPlace = { country: null, location: null };
/** If so many sessions wait for a judgement in this process, it takes no batch. */
const MAX_PLANNED = 50_000;
/** If so many of one integration wait, it begins no more of its sessions. */
const MAX_PLANNED_EACH = 20_000;
const MAX_USER_AGENT_LENGTH = 2_048;

/** Creates the process's collector. Starts nothing. */
export function createCollector(dependencies: {
  env: Env;
  db: Database;
  log: Logger;
  metrics: Metrics;
  secrets: Secrets;
  ingester: Ingester;
  webhookClient: DirectoryClient;
  /** Whether the process may run timers. */
  hasTimers: boolean;
}): Collector {
  const { env, db, log, metrics, secrets, ingester, webhookClient, hasTimers } = dependencies;
  const key = secrets.collectorKey;
  const limits = { goneMs: env.SESSION_GONE, idleMs: env.SESSION_IDLE };
  const sites = createSiteFinder(db, secrets);
  const isErasedUser = createErasedUserFinder(db, secrets.erasureKey);
  const admission = createAdmission();
  const intake = createIntake(db, log, env.SESSION_IDLE);
  const sessions = createSessions(db);
  const judge = createJudge({ db, log, metrics, ingester, sessions, limits });
  const schedule = createSchedule(judge, sessions, hasTimers);
  const newSessions = createMinuteCounter(env.COLLECT_NEW_PER_MINUTE);
  const sessionBatches = createMinuteCounter(env.COLLECT_BATCHES_PER_MINUTE);
  const findPlace = openPlaceFinder(env.GEOIP_DATABASE);
  const findNetwork = openNetworkFinder(env.ASN_DATABASE);
  const agents = createAgentVerifier({ origins: env.SIGNATURE_AGENTS, client: webhookClient, log });
  const sweeps = createSweeps({ db, log, sessions, schedule });

  const isOverloaded = () => intake.isOverloaded() || schedule.count() >= MAX_PLANNED;

  async function collect(request: CollectRequest): Promise<CollectAnswer> {
    // Before the body is read, so that a batch that is not taken costs as little as possible.
    if (isOverloaded() || !admission.take()) return refuseForNow('overload');
    const bytes = await request.readBody();
    // Bodies may have come in together while this one was read.
    if (isOverloaded()) return refuseForNow('overload');
    if (bytes === null) return refuse(`The body is longer than ${MAX_BEACON_BYTES} bytes`);
    const beacon = parseBeacon(bytes);
    if (!beacon) return refuse('The body is not a beacon');
    const site = await sites.find(beacon.k);
    const refusal = findRefusal(site, { ignoresPrivacyControl: beacon.g === 1, ...request });
    if (refusal || !site) return ignore(refusal ?? 'unknown-key');
    return collectOf(site, beacon, request);
  }

  async function collectOf(site: FoundSite, beacon: Beacon, request: CollectRequest): Promise<CollectAnswer> {
    const { siteId, integrationId } = site;
    const sessionId = deriveSessionId(key, siteId, beacon.s);
    const scope = { integrationId, sessionId };
    const token = checkToken(key, scope, beacon.t, Date.now());
    // The session is over. What is known of it may be removed, so its nonce would begin it again, under an id that has facts.
    if (token === 'expired') {
      metrics.countBatch('late');
      return { status: 200, answer: { ended: true } };
    }
    const hasToken = token === 'valid';
    if (!hasToken && beacon.n > 0) return ignore('token');
    const mayBegin = beacon.n === 0;
    const addressPrefix = mayBegin ? readNetworkPrefix(request.clientAddress) : null;
    // First, so that a flood of forged sessions does not fill the counts of real ones.
    if (!hasToken && !newSessions.take(addressPrefix ?? '')) return refuseForNow('network-limit');
    if (!hasToken && schedule.count(integrationId) >= MAX_PLANNED_EACH) return refuseForNow('overload');
    if (!sessionBatches.take(sessionId)) return refuseForNow('session-limit');
    const userAgent = (request.userAgent ?? '').slice(0, MAX_USER_AGENT_LENGTH).toWellFormed();
    const place = mayBegin ? readPlace(request) : NO_PLACE;
    const user = await findUser(site, beacon);
    const { d, n, receivedAtMs, ...content } = describeBatch(site, { user, ...beacon }, request);
    const { user: _, ...anonymous } = content;
    const stored = await intake.store({
      integrationId,
      sessionId,
      siteId,
      mayBegin,
      userAgent,
      addressPrefix,
      document: toDocumentNumber(d),
      sequence: n,
      body: packBatch(content),
      lateBody: user ? packBatch(anonymous) : null,
      ...place,
    });
    if (!stored) return ignore('token');
    sites.noteReceiving(site);
    noteStored(stored, { integrationId, sessionId, userAgent, ...place }, { d, n, receivedAtMs, ...content });
    const answer: BeaconAnswer = {};
    if (!hasToken && !stored.isClosed) answer.token = issueToken(key, scope, Date.now());
    if (stored.isClosed) answer.ended = true;
    return { status: 200, answer };
  }

  function readPlace({ place, clientAddress }: CollectRequest): ClientPlace {
    const { country, location } = place ? readPlatformPlace(place) : NO_PLACE;
    const found = findPlace(clientAddress);
    return { country: country ?? found.country, location: location ?? found.location };
  }

  /** Finds who a page says the visitor is. A user who was erased is nobody. */
  async function findUser(site: FoundSite, { u }: Beacon): Promise<NamedUser | null> {
    const user = u ? readUser(u, site) : null;
    const { integrationId } = site;
    return user && !(await isErasedUser({ integrationId, userId: user.id })) ? user : null;
  }

  function describeBatch(
    site: FoundSite,
    beacon: Beacon & { user: NamedUser | null },
    { origin, clientAddress, signed }: CollectRequest,
  ): KeptBatch {
    const { d, n, c, e, p, w, m, l, ev, x, i, u, user } = beacon;
    const agent = signed ? agents.verify(signed) : null;
    const number = n === 0 ? findNetwork(clientAddress) : null;
    return {
      d,
      n,
      c,
      events: packNumbers(ev),
      receivedAtMs: 0,
      ...(e && { e }),
      ...(p && { p }),
      ...(w && { w }),
      ...(m && { m }),
      ...(l && { l }),
      ...(x && { x }),
      ...(user ? { user } : u !== undefined && { hasRefusedUser: true as const }),
      ...(agent !== null && { agent }),
      ...(number !== null && { network: number }),
      ...(n === 0 && origin !== null && { origin }),
      ...(n === 0 && i !== undefined && { fingerprint: deriveFingerprint(key, site.integrationId, i) }),
    };
  }

  function noteStored(stored: StoredBatch, session: Parameters<typeof sessions.addBatch>[0], batch: KeptBatch) {
    const { receivedAt, isClosed, isNewSession, sessionKey } = stored;
    metrics.countBatch(isClosed ? 'late' : receivedAt === null ? 'repeated' : 'kept');
    if (receivedAt === null || isClosed) return;
    if (isNewSession && !sessions.get(sessionKey)) metrics.countCollectedSession();
    sessions.addBatch(session, stored, { ...batch, receivedAtMs: Date.parse(receivedAt) });
    schedule.notice({ key: sessionKey, integrationId: session.integrationId }, batch.x === 1);
  }

  function refuse(message: string): CollectAnswer {
    metrics.countBatch('malformed');
    return { status: 400, message };
  }

  function refuseForNow(outcome: CollectOutcome): CollectAnswer {
    metrics.countBatch(outcome);
    return { status: 503, retrySeconds: chooseRetrySeconds() };
  }

  function ignore(refusal: Refusal): CollectAnswer {
    metrics.countBatch(refusal);
    return { status: 204 };
  }

  return {
    collect: (request) =>
      collect(request).catch((error: unknown) => {
        log[findFaultLevel(error)]({ err: error }, 'a beacon could not be kept');
        return refuseForNow('outage');
      }),
    start() {
      admission.start();
      sweeps.start();
    },
    async sweep() {
      const count = await sweeps.sweep();
      await schedule.flush();
      return count;
    },
    async flush() {
      await Promise.all([schedule.flush(), agents.settle()]);
    },
    async stop() {
      admission.stop();
      await sweeps.stop();
      await schedule.stop();
    },
    load: () => ({ waiting: intake.count(), sessions: sessions.count() }),
  };
}

function parseBeacon(bytes: Uint8Array): Beacon | null {
  try {
    return readBeacon(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return null;
  }
}
