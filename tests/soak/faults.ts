import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/client';
import type { Relay } from '../support/relay';
import type { Server } from '../support/site';
import type { ReceiverAccount } from './receiver-account';

const OUTAGE_MS = 3_000;
const STOP_LIMIT_MS = 15_000;

export interface FaultContext {
  /** The relay between the servers and Postgres. */
  relay: Relay;
  /** A connection to Postgres that the faults do not affect. */
  db: Database;
  receiver: ReceiverAccount;
  /** The server that may be ended, and a function that starts its successor. */
  victim: { current: Server; start(): Promise<Server> };
}

/** The injected faults. Each function runs until its fault is over. */
export const FAULTS: Record<string, (context: FaultContext) => Promise<void>> = {
  'a server is killed': ({ victim }) => replace(victim, 'SIGKILL'),
  'a server is stopped': ({ victim }) => replace(victim, 'SIGTERM'),
  'the database is gone': ({ relay }) => outage(relay, () => relay.cut()),
  'the database hangs up': ({ relay }) => outage(relay, () => relay.hangUp()),
  'the database is silent': ({ relay }) =>
    outage(relay, async () => {
      relay.stall();
    }),
  'all connections are ended': async ({ db }) => void (await db.query(END_CONNECTIONS, [])),
  'the receiver fails': ({ receiver }) => spell(receiver, 'failing'),
  'the receiver is silent': ({ receiver }) => spell(receiver, 'silent'),
};

async function replace(victim: FaultContext['victim'], signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  victim.current.signal(signal);
  const { code, stdout, stderr } = await victim.current.endWithin(STOP_LIMIT_MS);
  if (signal === 'SIGTERM' && code !== 0)
    throw new Error(`a stopped server exited with ${code}: ${(stdout + stderr).slice(-4_000)}`);
  await sleep(OUTAGE_MS / 3);
  victim.current = await victim.start();
}

async function outage(relay: Relay, begin: () => Promise<void>): Promise<void> {
  await begin();
  await sleep(OUTAGE_MS);
  await relay.cut();
  await relay.restore();
}

async function spell(receiver: ReceiverAccount, mode: 'failing' | 'silent'): Promise<void> {
  receiver.mode = mode;
  await sleep(OUTAGE_MS);
  receiver.mode = 'well';
}

const END_CONNECTIONS = `
  select count(pg_terminate_backend(pid)) from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid()`;
