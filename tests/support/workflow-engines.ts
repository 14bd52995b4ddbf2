import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type EventPayload, Inngest, type InngestFunction } from 'inngest';
import { serve as serveEdge } from 'inngest/edge';
import { serve as serveNode } from 'inngest/node';
import { type Database, openDatabase } from '../../db/client';
import { listCronRuns } from '../../inngest/embedded/crons';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../inngest/embedded/engine';
import { listFunctions } from '../../inngest/embedded/functions';
import { Store } from '../../inngest/embedded/store';
import { createEmptyDatabase } from './database';
import type { InngestServer } from './inngest-server';

const MINUTE_MS = 60_000;

/** Defines an application's functions. It is called again when the application comes back, as a new process would. */
export type DefineFunctions = (client: Inngest) => InngestFunction.Any[];

/** What runs workflow functions: the embedded engine or a real Inngest server. */
export interface WorkflowEngine {
  /** How late a start or a wake-up may be. */
  latenessMs: number;
  /** How early a sleep until an instant may end. */
  earlinessMs: number;
  /** How long a rule waits for an expected result. The attempts of a failing function are some time apart. */
  patienceMs: number;
  /** Starts an application. Resolves when events start its functions. */
  startApp(define: DefineFunctions): Promise<EngineApp>;
}

export interface EngineApp {
  client: Inngest;
  /** Sends events, also while the application is away. Returns their ids. */
  send(events: EventPayload | EventPayload[]): Promise<string[]>;
  /** Ends at once, like a killed process: running calls have no result. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  /** Resolves when a minute has begun and crons are due. */
  passMinute(): Promise<void>;
  stop(): Promise<void>;
}

const silent = { info() {}, warn() {}, error() {}, debug() {} };
// The same as in inngest/client.ts.
const CLIENT_OPTIONS = { logger: silent, checkpointing: false } as const;

/** Every application gets a new database, and a new engine each time it comes back. */
export function createEmbeddedEngines(): WorkflowEngine {
  return {
    // docs/decisions.md: punctuality.
    latenessMs: 1_000,
    earlinessMs: 0,
    patienceMs: 25_000,
    async startApp(define) {
      const { url, drop } = await createEmptyDatabase();
      const db = openDatabase({ url, maxConnections: 4 });
      let life = await startEmbeddedLife(url, db, define);
      return {
        client: life.client,
        // Sent by a process that runs no functions, if there is no other.
        send: async (events) => (await life.client.send(events)).ids,
        async leave() {
          await life.engine.stop(0);
          life = createEmbeddedLife(url, db, define);
        },
        async comeBack() {
          await life.engine.stop(0);
          life = await startEmbeddedLife(url, db, define);
        },
        // The embedded engine's own tests check that it does this once when the minute changes.
        async passMinute() {
          const functions = await listFunctions(life.handler);
          await new Store(db.sql).startRuns(listCronRuns(functions, Math.floor(Date.now() / MINUTE_MS)));
        },
        async stop() {
          await life.engine.stop(0);
          await db.close();
          await drop();
        },
      };
    },
  };
}

function createEmbeddedLife(databaseUrl: string, db: Database, define: DefineFunctions) {
  const client = new Inngest({
    ...CLIENT_OPTIONS,
    id: 'app',
    isDev: true,
    fetch: (input, init) => engine.fetch(input, init),
  });
  const handler = serveEdge({ client, functions: define(client) });
  const engine: EmbeddedEngine = createEmbeddedEngine({ databaseUrl, sql: db.sql, handler, log: silent, slots: 30 });
  return { client, handler, engine };
}

async function startEmbeddedLife(databaseUrl: string, db: Database, define: DefineFunctions) {
  const life = createEmbeddedLife(databaseUrl, db, define);
  await life.engine.start();
  return life;
}

/** Applications that a real server calls over HTTP. Each has its own name and port. */
export function createServerEngine(server: InngestServer): WorkflowEngine {
  return {
    latenessMs: 2000,
    // Inngest sleeps for the remaining time, rounded to whole seconds.
    earlinessMs: 500,
    patienceMs: server.patienceMs,
    async startApp(define) {
      const { baseUrl, eventKey, signingKey, isDev } = server;
      const client = new Inngest({ ...CLIENT_OPTIONS, id: createName('app'), baseUrl, eventKey, signingKey, isDev });
      let http = await serveApp(client, define(client));
      const { port } = http.address() as AddressInfo;
      const leave = () =>
        new Promise<void>((resolve) => {
          http.close(() => resolve());
          http.closeAllConnections();
        });
      return {
        client,
        send: async (events) => (await client.send(events)).ids,
        leave,
        async comeBack() {
          http = await serveApp(client, define(client), port);
        },
        async passMinute() {
          const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
          // A cron that was registered just before a minute may begin with the next one.
          await delay(leftMs < 2000 ? leftMs + MINUTE_MS : leftMs);
        },
        async stop() {
          if (http.listening) await leave();
          // A server that keeps running must not call the application's crons for ever.
          http = await serveApp(client, [], port);
          await leave();
        },
      };
    },
  };
}

/** Serves functions on the loopback and registers them with the server. */
async function serveApp(client: Inngest, functions: InngestFunction.Any[], port = 0): Promise<Server> {
  const http = createServer(serveNode({ client, functions }));
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const { port: ownPort } = http.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${ownPort}/api/inngest`, {
    method: 'PUT',
    // A kept connection would not survive the application, which comes back at the same port.
    headers: { connection: 'close' },
  });
  if (answer.ok) return http;
  http.close();
  throw new Error(`the Inngest server does not take the functions: ${answer.status} ${await answer.text()}`);
}

/** Creates a name that no other test and no earlier run has used, because a real server remembers names. */
export function createName(what: string): string {
  return `contract-${what}-${crypto.randomUUID()}`;
}
