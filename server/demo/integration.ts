import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { awaitUnlessAborted } from '../../db/migrate';
import { integrations } from '../../db/schema';
import { asOperator } from '../audit/acts';
import { createStaff, listStaff, setStaffPassword } from '../auth/accounts';
import { mintKey } from '../domain/api-keys';
import { setAllowedOrigins } from '../domain/collecting';
import { listCourses } from '../domain/directories';
import { createIntegration, findIntegration, listIntegrations } from '../domain/integrations';
import { foldSessionDeltas } from '../domain/rollups';
import { createSite, listSites } from '../domain/sites';
import type { Fact } from '../pipeline/facts';
import { MAX_FACTS } from '../pipeline/facts';
import type { DemoSite, Service } from '../service';
import { createDemoRules } from './alert-rules';
import { makeIncidents } from './incidents';
import { createRandom, MAX_SESSION_FACTS, makeSessionFacts } from './session-facts';
import { type DemoTrace, storeDemoTraces } from './traces';

const NAME = 'Demo University';
const EMAIL = 'admin@example.com';
const ORIGIN = 'https://learn.example.edu';
const SITE = 'Demo page';
/** The most origins that an integration has. */
const MAX_ORIGINS = 100;
/** And six with incidents. */
const SESSIONS = 394;
const DAYS = 30;
const DAY_MS = 86_400_000;
const PROGRAM_SHARE = 0.2;
/** Of the programs, those that the rules miss. The demo is to show them too. */
const MISSED_SHARE = 0.2;

/** The credentials that the operator sees once. */
export interface Demo {
  id: string;
  key: string;
  /** The address of a dashboard admin. */
  email: string;
  password: string;
}

/**
 * Loads the demo integration (plan enterprise) into a database without integrations: a few hundred sessions over 30
 * days, all through the pipeline's ingester, alert rules with the alerts that they find in these sessions, reports that the
 * engine makes of them, and a dashboard account. Returns null if integrations already exist. One process at a time: another one
 * would take what the first has made so far for left behind by a crash. If `signal` is aborted meanwhile, rejects with its reason, and the
 * next call loads the demo.
 */
export const loadDemoIntegration = (service: Service, signal?: AbortSignal): Promise<Demo | null> =>
  service.db.transact(
    async (query) => {
      await awaitUnlessAborted(query(LOCK_DEMO, []), signal);
      return loadUnlessLoaded(service, signal);
    },
    { isLong: true },
  );

/** Until the end of the transaction, which sends nothing while the demo is loaded. */
const LOCK_DEMO = `
  select set_config('idle_in_transaction_session_timeout', '0', true), pg_advisory_xact_lock(hashtext('load-demo'))`;

async function loadUnlessLoaded(service: Service, signal?: AbortSignal): Promise<Demo | null> {
  const { db } = service;
  const integrations = await listIntegrations(db);
  const demo = integrations.find(({ name }) => name === NAME);
  const unfinished = demo && !(await hadKey(db, demo.id)) ? demo : undefined;
  if (integrations.length > (unfinished ? 1 : 0)) return null;
  const { id } =
    unfinished ??
    (await createIntegration(asOperator(db), { name: NAME, plan: 'enterprise', allowedOrigins: [ORIGIN] }));
  await ingestHistory(service, id, signal);
  await createDemoRules(service, id);
  await requestReports(service, id);
  const password = await obtainDemoStaff(db);
  const { key } = await mintKey(asOperator(db), { integrationId: id, name: 'Demo key' });
  return { id, key, email: EMAIL, password };
}

/**
 * Whether a key was ever created: one that is revoked now counts too. The key of a demo is created last. One that never had any was
 * interrupted by a crash, so nobody has seen its credentials.
 */
async function hadKey(db: Service['db'], integrationId: string): Promise<boolean> {
  return (await db.query('select 1 from api_keys where integration_id = $1 limit 1', [integrationId])).length > 0;
}

/**
 * Finds the site of the demo page, or creates it, and lets pages of these origins send what they see. Origins that the
 * operator has added stay. Returns null if there is no demo integration.
 */
export async function openDemoSite({ db }: Service, origins: string[]): Promise<DemoSite | null> {
  const integration = (await listIntegrations(db)).find(({ name }) => name === NAME);
  if (!integration) return null;
  const integrationId = integration.id;
  const [kept] = await db.orm
    .select({ origins: integrations.allowedOrigins })
    .from(integrations)
    .where(eq(integrations.id, integrationId));
  const allowedOrigins = [...new Set([...origins, ...(kept?.origins ?? [])])].slice(0, MAX_ORIGINS);
  await setAllowedOrigins(asOperator(db), { integrationId, allowedOrigins });
  const site = await findDemoSite(db, integrationId);
  return { integrationId, siteId: site.id, siteKey: site.siteKey };
}

/** Finds the site of the demo page, or creates it. */
async function findDemoSite(db: Service['db'], integrationId: string) {
  const sites = await listSites(db, integrationId);
  const known = sites.find(({ name, revokedAt }) => name === SITE && revokedAt === null);
  return known ?? createSite(asOperator(db), { integrationId, name: SITE });
}

/** Creates the account. If an interrupted demo already did, replaces its password. */
async function obtainDemoStaff(db: Service['db']): Promise<string> {
  const password = randomBytes(15).toString('base64url');
  const isKnown = (await listStaff(db)).some(({ email }) => email === EMAIL);
  if (isKnown) await setStaffPassword(asOperator(db), { email: EMAIL, password });
  else await createStaff(asOperator(db), { email: EMAIL, password, role: 'admin', name: 'Demo admin' });
  return password;
}

/** Asks for some reports, as staff would. The engine makes them when it runs. */
async function requestReports({ db, secrets, reports }: Service, integrationId: string): Promise<void> {
  // The users of a course are read from the counts.
  await foldSessionDeltas(db);
  const { integration } = (await findIntegration(db, integrationId))!;
  const context = { ...asOperator(db), integration, cursorKey: secrets.cursorKey, secrets };
  // A demo that a crash interrupted may have asked for them.
  if ((await reports.listJobs(context)).length > 0) return;
  const [course] = (await listCourses(context, { pageSize: 1 })).data;
  await reports.request(context, { template: 'weekly-overview', format: 'pdf' });
  await reports.request(context, {
    template: 'sessions',
    format: 'csv',
    days: 30,
    riskLevel: 'bot',
    name: 'Bot sessions',
  });
  await reports.request(context, { template: 'sessions', format: 'json', days: 30, name: 'All sessions of the month' });
  if (!course) return;
  const name = `Integrity of ${course.name}`;
  await reports.request(context, { template: 'course-integrity', format: 'csv', days: 30, courseId: course.id, name });
}

async function ingestHistory({ db, ingester }: Service, integrationId: string, signal?: AbortSignal): Promise<void> {
  const random = createRandom(20);
  const now = Date.now();
  const siteId = (await findDemoSite(db, integrationId)).id;
  let facts: Fact[] = [];
  let traces: DemoTrace[] = [];
  const ingest = async () => {
    signal?.throwIfAborted();
    await ingester.ingestFacts({ integrationId, facts });
    await storeDemoTraces(db, { integrationId, siteId }, traces);
    [facts, traces] = [[], []];
  };
  for (let n = 0; n < SESSIONS; n++) {
    // Recent days get more sessions, and daytime gets more than night.
    const daysAgo = random() ** 1.3 * DAYS;
    const hour = 7 + random() * 15;
    const startOfDay = Math.floor((now - daysAgo * DAY_MS) / DAY_MS) * DAY_MS;
    const endsAt = Math.min(startOfDay + hour * 3_600_000, now - random() * 3_600_000);
    const kind = random() >= PROGRAM_SHARE ? 'human' : random() < MISSED_SHARE ? 'missed' : 'bot';
    const session = makeSessionFacts(kind, Math.round(endsAt), random);
    facts.push(...session.facts);
    traces.push(session.trace);
    if (facts.length <= MAX_FACTS - MAX_SESSION_FACTS && n < SESSIONS - 1) continue;
    await ingest();
  }
  ({ facts, traces } = makeIncidents(now, random));
  await ingest();
}
