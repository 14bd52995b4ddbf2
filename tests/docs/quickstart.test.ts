import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createDemoSettings } from '../support/database';
import { followDocument } from '../support/followed-document';
import { findFreePort } from '../support/ports';
import { endProducts, makeDataDir, readScreen, startProduct } from '../support/product';
import { openReader, type Reader } from '../support/reader';

// A customer follows the quickstart in an empty directory, against the product with its demo data, and then the guide about
// webhooks in another one, with a receiver on this machine.

let reader: Reader;
let receivingReader: Reader;

beforeAll(async () => {
  const port = await findFreePort();
  const allowed = { WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${port}` };
  const product = await startProduct(await makeDataDir(), { ...(await createDemoSettings()), ...allowed });
  const variables = { BASE: product.url, KEY: readScreen(product).demoKey };
  reader = openReader({ ports: {}, variables });
  receivingReader = openReader({ ports: { 9000: port }, variables });
});
afterAll(async () => {
  await reader.leave();
  await receivingReader.leave();
  await endProducts();
});

followDocument('docs/quickstart.md', () => reader);
followDocument('docs/webhooks.md', () => receivingReader);

/** The answers of a failing server to each request, in turn. Null closes the connection. */
const ANSWERS: Record<string, (number | null)[]> = {
  'GET /v1/stats': [429, 503, 200],
  'POST /v1/sessions/a/label': [null, 503, 200],
  'POST /v1/webhooks': [429, 503],
  'GET /v1/users': [404],
};

const PROBES = {
  'the TypeScript client': {
    file: 'probe.ts',
    command: 'node_modules/.bin/tsx',
    code: `import { ApiError, api, take } from './client.js';
const codeOf = async (call: Promise<Parameters<typeof take>[0]>) => {
  try { take(await call); return 'done'; } catch (error) { return error instanceof ApiError ? error.code : 'lost'; }
};
console.log(JSON.stringify(await Promise.all([
  codeOf(api.GET('/v1/stats')),
  codeOf(api.POST('/v1/sessions/{sessionId}/label', { params: { path: { sessionId: 'a' } }, body: { verdict: 'bot' } })),
  codeOf(api.POST('/v1/webhooks', { body: { url: 'https://example.com/', eventType: 'BotDetected' } })),
  codeOf(api.GET('/v1/users')),
])));`,
  },
  'the Python client': {
    file: 'probe.py',
    command: '.venv/bin/python',
    code: `import json
from concurrent.futures import ThreadPoolExecutor
from bot_detection import ApiError, connect
api = connect()
def code_of(method, path):
    try:
        api.call(method, path, body={} if method == "POST" else None)
        return "done"
    except ApiError as error:
        return error.code
calls = [("GET", "/v1/stats"), ("POST", "/v1/sessions/a/label"), ("POST", "/v1/webhooks"), ("GET", "/v1/users")]
print(json.dumps(list(ThreadPoolExecutor(4).map(lambda call: code_of(*call), calls))))`,
  },
};

describe.concurrent.each(Object.entries(PROBES))('%s of the quickstart', (_name, { file, command, code }) => {
  it('repeats only requests that are safe to repeat, and waits as told', async ({ expect, skip }) => {
    if (!existsSync(join(reader.directory, command))) skip('it is not installed here');
    writeFileSync(join(reader.directory, file), code);
    const arrivals: Record<string, number[]> = {};
    const server = createServer((request, response) => {
      const name = `${request.method} ${request.url}`;
      arrivals[name] ??= [];
      const status = ANSWERS[name]![arrivals[name].push(Date.now()) - 1];
      // Otherwise the next attempt may use a connection that is just being closed.
      response.setHeader('connection', 'close');
      if (status === 429) response.setHeader('retry-after', '1');
      if (status === null || status === undefined) request.socket.destroy();
      else if (status === 200) response.setHeader('content-type', 'application/json').end('{"data":{}}');
      else {
        const body = { error: { code: `CODE_${status}`, message: 'no', details: null } };
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const env = {
        PATH: process.env.PATH,
        BASE: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        KEY: 'k',
      };
      const options = { cwd: reader.directory, env: env as unknown as NodeJS.ProcessEnv };
      const { stdout } = await promisify(execFile)(join(reader.directory, command), [file], options);
      expect(JSON.parse(stdout)).toEqual(['done', 'done', 'CODE_503', 'CODE_404']);
      const counts = Object.fromEntries(Object.entries(arrivals).map(([name, times]) => [name, times.length]));
      expect(counts).toEqual({
        'GET /v1/stats': 3,
        'POST /v1/sessions/a/label': 3,
        'POST /v1/webhooks': 2,
        'GET /v1/users': 1,
      });
      for (const [first, second] of [arrivals['GET /v1/stats']!, arrivals['POST /v1/webhooks']!]) {
        expect(second! - first!).toBeGreaterThanOrEqual(1_000);
      }
    } finally {
      server.close();
    }
  });
});
