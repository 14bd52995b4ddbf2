import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../server/demo/session-facts';
import type { Answer, Client } from '../support/server';
import type { Ledger } from './ledger';
import type { SoakTenant } from './tenant';

// The users of the product during the soak. Readers accept any answer. Writers and the pipeline repeat a request until
// it succeeds, as real customers and pipelines do.

const ANSWER_LIMIT_MS = 15_000;
const REPEAT_PAUSE_MS = 200;
const LARGEST_BATCH = 12;
const LATE = Symbol('late');

export interface Callers {
  /** Picks the server for the next request, as a load balancer would. */
  choose(): Client;
  tenants: SoakTenant[];
  random: Random;
  ledger: Ledger;
}

/** Sends a request once and records the outcome. Returns null if there was no answer. */
async function ask(ledger: Ledger, what: string, call: () => Promise<Answer>): Promise<Answer | null> {
  const from = Date.now();
  const answer = await Promise.race([
    call().catch(() => null),
    sleep(ANSWER_LIMIT_MS, LATE as typeof LATE, { ref: false }),
  ]);
  ledger.note(what, from, answer === LATE ? undefined : (answer?.status ?? null));
  return answer === LATE ? null : answer;
}

/** Repeats a request until it succeeds or is refused permanently. A refusal is recorded as an error. */
async function insist(ledger: Ledger, what: string, call: () => Promise<Answer>): Promise<Answer | null> {
  for (;;) {
    const answer = await ask(ledger, what, call);
    if (answer && answer.status < 500) return answer.status < 300 ? answer : null;
    await sleep(REPEAT_PAUSE_MS);
  }
}

const pick = <T>(random: Random, list: T[]): T => list[Math.floor(random() * list.length)]!;

const RESTART_SHARE = 0.2;

/** Polls the webhook events of a tenant, sometimes with a client that has just been killed and started again. */
export async function pollEvents({ choose, tenants, random, ledger }: Callers): Promise<void> {
  const tenant = pick(random, tenants);
  if (random() < RESTART_SHARE) tenant.restartPoller();
  await tenant.poller.poll((path) =>
    ask(ledger, 'GET /v1/webhook-events', () => choose().call('GET', path, { key: tenant.key })),
  );
}

/** Posts facts about sessions, in batches of varying size. */
export async function postFacts({ choose, tenants, random, ledger }: Callers): Promise<void> {
  const tenant = pick(random, tenants);
  const { facts, take } = tenant.makeBatch(1 + Math.floor(random() * LARGEST_BATCH));
  const answer = await insist(ledger, 'pipeline.ingest', () => choose().ingest(tenant.id, facts));
  if (answer) take();
  const counts = answer?.body.result.data;
  // Either all are new, or all are duplicates because a batch whose answer was lost was sent again.
  if (counts && counts.accepted + counts.duplicates !== facts.length)
    ledger.wrong.push(`pipeline.ingest: ${JSON.stringify(counts)}`);
}

const PATHS = [
  '/v1/sessions?pageSize=50',
  '/v1/sessions?riskLevel=bot',
  '/v1/users?pageSize=20',
  '/v1/courses',
  '/v1/analytics?period=7d&groupBy=day',
  '/v1/stats',
  '/v1/usage',
  '/v1/webhooks',
  '/v1/integration',
];

/** Reads something. A session's score must be the one that was sent. */
export async function read({ choose, tenants, random, ledger }: Callers): Promise<void> {
  const tenant = pick(random, tenants);
  const { key } = tenant;
  const id = random() < 0.5 ? tenant.pickSession() : undefined;
  if (id === undefined) {
    const path = pick(random, PATHS);
    return void (await ask(ledger, `GET ${path}`, () => choose().call('GET', path, { key })));
  }
  const suffix = pick(random, ['', '/details', '/events', '/evidence']);
  const path = `/v1/sessions/${id}${suffix}`;
  const answer = await ask(ledger, `GET /v1/sessions/{id}${suffix}`, () => choose().call('GET', path, { key }));
  const sent = tenant.sessions.get(id)!;
  if (suffix === '' && answer?.status === 200 && answer.body.data.botScore !== sent.botScore)
    ledger.wrong.push(`${path}: ${answer.body.data.botScore} instead of ${sent.botScore}`);
}

/**
 * Labels a session and checks that the label shows at once; or confirms a device; or moves a threshold that no checked
 * count depends on.
 */
export async function write({ choose, tenants, random, ledger }: Callers): Promise<void> {
  const tenant = pick(random, tenants);
  const { key } = tenant;
  const call = (method: string, path: string, body: unknown) =>
    insist(ledger, `${method} ${path.replace(/[^/]{30,}/, '{id}')}`, () => choose().call(method, path, { key, body }));
  const kind = random();
  if (kind < 0.1) {
    const [userId, device] = [`user-${Math.floor(random() * 40)}`, `device-${Math.floor(random() * 50)}`];
    if (await call('POST', `/v1/users/${userId}/devices/${device}/confirm`, {}))
      tenant.confirmed.add(`${userId} ${device}`);
    return;
  }
  if (kind < 0.2) {
    await call('PUT', '/v1/settings/risk-thresholds', { mediumAt: random() < 0.5 ? 30 : 40, botAt: 70 });
    return;
  }
  const id = tenant.pickSession();
  const session = id === undefined ? undefined : tenant.sessions.get(id);
  // While another writer labels the session, either verdict may win.
  if (session === undefined || tenant.busy.has(id!)) return;
  tenant.busy.add(id!);
  const verdict = random() < 0.5 ? 'bot' : 'human';
  if (await call('POST', `/v1/sessions/${id}/label`, { verdict })) session.verdict = verdict;
  const seen = await ask(ledger, 'GET /v1/sessions/{id}', () => choose().call('GET', `/v1/sessions/${id}`, { key }));
  if (seen?.status === 200 && seen.body.data.label?.verdict !== session.verdict)
    ledger.wrong.push(`${id}: labelled ${seen.body.data.label?.verdict} instead of ${session.verdict}`);
  tenant.busy.delete(id!);
}
