import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { KEY_SCOPES } from '../../contract/integrations';
import type { Plan } from '../../contract/tiers';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { createIntegration } from '../../server/domain/integrations';
import type { ConnectionLimits } from '../../server/http-limits';
import { createHttpServer, type Handler, stopHttpServer } from '../../server/http-server';
import { readEnv } from '../../server/platform/env';
import { createLogger } from '../../server/platform/log';
import { PIPELINE_PATH } from '../../server/rest/pipeline-endpoint';
import { closeService, createService, type Service } from '../../server/service';
import { createTestDatabase, type TestDatabase, waitForConnection } from './database';

export const PIPELINE_TOKEN = 'a-pipeline-token-of-the-tests';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any;
}

/** A client of a server, wherever the server listens. */
export interface Client {
  /** Sends a request to the API with a Bearer key. `body` is sent as JSON. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Posts facts to the pipeline's endpoint. */
  ingest(integrationId: string, facts: unknown[]): Promise<Answer>;
}

export interface TestServer extends Client {
  url: string;
  service: Service;
  database: TestDatabase;
  /** Creates an integration with a key. */
  createTenant(plan?: Plan): Promise<{ id: string; key: string; keyId: string }>;
  stop(): Promise<void>;
}

export interface CallOptions {
  key?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Starts the self-hosted server's parts in this process, on a new database and a free port of the loopback. */
export async function startTestServer(
  settings: Record<string, string> = {},
  shared?: TestServer,
  dashboard: (service: Service) => Handler = () => answerNotFound,
  limits?: ConnectionLimits,
): Promise<TestServer> {
  const database = shared?.database ?? (await createTestDatabase());
  const env = readEnv({
    DATABASE_URL: database.url,
    APP_SECRET: shared ? shared.service.env.APP_SECRET!.toString('base64') : randomBytes(32).toString('base64'),
    PIPELINE_TOKEN,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    // Each connection costs Postgres as much as dozens of requests: it parses and plans every statement again.
    DATABASE_POOL_MAX: '4',
    ...settings,
  });
  const service = createService({
    env,
    log: createLogger(env),
    databaseUrl: database.url,
    appSecret: env.APP_SECRET!,
    isSelfHosted: true,
  });
  const server = createHttpServer(service, dashboard(service), limits);
  await waitForConnection(service.db);
  await service.engine?.start();
  await service.dispatcher.start();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    service,
    database,
    async createTenant(plan = 'enterprise') {
      const { id } = await createIntegration(asOperator(service.db), {
        name: `Tenant on ${plan}`,
        plan,
        allowedOrigins: [],
      });
      const input = { integrationId: id, name: 'test', scopes: [...KEY_SCOPES] };
      const { key, id: keyId } = await mintKey(asOperator(service.db), input);
      return { id, key, keyId };
    },
    ...createClient(url),
    async stop() {
      await stopHttpServer(server, 1_000);
      await closeService(service, 1_000);
      if (!shared) await database.drop();
    },
  };
}

const answerNotFound: Handler = async (_request, response) => void response.writeHead(404).end();

export const createClient = (url: string): Client => ({
  call: (method, path, { key, headers, body } = {}) =>
    request(`${url}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
  ingest: (integrationId, facts) =>
    request(`${url}${PIPELINE_PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${PIPELINE_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ integrationId, facts }),
    }),
});

async function request(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const text = await response.text();
  const isJson = text !== '' && response.headers.get('content-type')?.includes('/json');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}
