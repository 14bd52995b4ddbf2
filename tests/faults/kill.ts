import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../server/demo/session-facts';
import type { Receiver } from '../support/receiver';
import { RECOVERY_LIMIT_MS, type Server, type Site } from '../support/site';
import { type Account, Traffic } from './traffic';

// The experiment: bot sessions arrive and are delivered, the server is killed with -9 at a random moment and restarted
// at once on the same data. In the end every event must have arrived, and only what was in flight may have arrived
// twice.

const EVENTS = 100;
/** About the time that it takes to post and deliver everything. */
const SPAN_MS = 800;
const TIMEOUT_MS = 1_000;
const LIMIT_MS = 60_000;

/** Settings that make the experiment fast. */
export const killSettings = (receiver: Receiver) => ({
  WEBHOOK_ALLOW_HOSTS: receiver.host,
  WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
  WEBHOOK_RETRY_DELAYS: '0s,300ms,300ms,300ms,300ms,300ms',
});

export interface KillOutcome extends Account {
  seed: number;
  /** Time since the start of the traffic. */
  killedAfterMs: number;
  /** The server started after the kill, for the next experiment. */
  server: Server;
}

/** Finds what is wrong with an outcome: one line per broken rule. */
export function findFaults({ lost, unexplained, secondIds, longestWaitMs, repeated, inFlight }: Account): string[] {
  const faults = Object.entries({ lost, unexplained, secondIds }).flatMap(([name, items]) =>
    items.length > 0 ? [`${items.length} ${name}: ${items.slice(0, 3).join(', ')}`] : [],
  );
  if (repeated.length > inFlight) faults.push(`${repeated.length} repeated, ${inFlight} in flight`);
  for (const [what, ms] of Object.entries(longestWaitMs)) {
    if (ms > RECOVERY_LIMIT_MS) faults.push(`something waited ${ms} ms (${what})`);
  }
  return faults;
}

/** Kills the server once, at a moment derived from the seed. */
export async function killServer(site: Site, running: Server, receiver: Receiver, seed: number): Promise<KillOutcome> {
  const random = createRandom(seed);
  const traffic = await Traffic.open(site, running, receiver, random, EVENTS);
  const killedAfterMs = Math.round(random() * SPAN_MS);
  const deadline = Date.now() + LIMIT_MS;
  const posted = traffic.post(running, deadline);
  posted.catch(() => {}); // awaited below
  await sleep(killedAfterMs);
  running.signal('SIGKILL');
  await running.endWithin(5_000);
  await site.waitForQuiet();
  const deliveries = await site.listDeliveries(traffic.tenant);
  const inFlight = deliveries.filter(({ leaseEndsAt }) => leaseEndsAt !== null);
  const server = await site.start();
  const recoveredAt = Date.now();
  await posted;
  await traffic.settle(deadline);
  return { ...(await traffic.judge(inFlight, recoveredAt, true)), seed, killedAfterMs, server };
}
