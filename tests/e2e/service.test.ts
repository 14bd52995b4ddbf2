import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { createIntegration } from '../../server/domain/integrations';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { scoredSession } from '../support/facts';
import { makeNextPrint, readRecords } from '../support/next-prints';
import { PIPELINE_TOKEN } from '../support/server';

const POOL_MAX = 3;

describe('the self-hosted process', () => {
  let database: TestDatabase;
  let product: ChildProcess;
  let url: string;
  let log = '';

  beforeAll(async () => {
    database = await createTestDatabase();
    product = spawn(process.execPath, ['server/start.mjs', 'main'], {
      env: {
        ...process.env,
        NODE_ENV: 'production',
        PORT: '0',
        DATABASE_URL: database.url,
        APP_SECRET: randomBytes(32).toString('base64'),
        PIPELINE_TOKEN,
        DATABASE_POOL_MAX: String(POOL_MAX),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    product.stderr!.setEncoding('utf8').on('data', (text) => (log += text));
    let printed = '';
    for await (const chunk of product.stdout!) {
      printed += chunk;
      if (printed.includes('/swagger')) break;
    }
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)![0];
  }, 120_000);
  afterAll(async () => {
    const ended = once(product, 'exit');
    product.kill('SIGTERM');
    await ended;
    await database.drop();
  });

  it('answers a client that offers an upgrade, also after Next has answered a request', async () => {
    expect((await fetch(`${url}/`)).status).toBe(200);
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      request(`${url}/health`, { headers: { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(answered).toBe(200);
  });

  it('logs what Next prints, one JSON object per line, with the id of the request', async () => {
    const answers = await makeNextPrint(url);
    expect(answers.map(({ status }) => status)).toEqual([409, 500]);
    const idsOf = (records: Record<string, unknown>[]) => records.map(({ requestId }) => requestId);
    const listPrinted = () => readRecords(log.slice(0, log.lastIndexOf('\n'))).filter(({ err }) => err);
    await expect.poll(() => idsOf(listPrinted())).toEqual(expect.arrayContaining(answers.map((one) => one.requestId)));
    for (const record of listPrinted()) {
      expect(answers.map((one) => one.requestId)).toContain(record.requestId);
      expect(record).toMatchObject({
        level: expect.stringMatching(/^(warn|error)$/),
        err: { stack: expect.any(String) },
      });
    }
  });

  it('has no image optimizer', async () => {
    for (const query of ['', '?url=%2Ficon.svg&w=640&q=75', '?url=http%3A%2F%2F127.0.0.1%2F&w=640&q=75'])
      expect([query, (await fetch(`${url}/_next/image${query}`)).status]).toEqual([query, 404]);
  });

  it('has one pool, which its entry point and Next’s bundles share', async () => {
    const { id } = await createIntegration(asOperator(database.db), {
      name: 'Tenant',
      plan: 'pro',
      allowedOrigins: [],
    });
    const { key } = await mintKey(asOperator(database.db), { integrationId: id, name: 'test' });
    const post = (path: string) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${PIPELINE_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ integrationId: id, facts: scoredSession(0.3).facts }),
      });
    const list = () => fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } });
    // The entry point knows the pipeline's endpoint by one spelling of its path. Next's bundle answers any other.
    const ingestTwice = () => [post('/api/trpc/pipeline.ingest'), post('/api/trpc/pipeline%2Eingest')];
    const answers = await Promise.all(Array.from({ length: 12 }, () => [...ingestTwice(), list()]).flat());
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { sql } = database.db;
    const own = await Promise.all(
      Array.from({ length: 12 }, () => sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.1)`),
    );
    const pools = await sql`select pid from pg_stat_activity
      where datname = current_database() and application_name = 'bot-detection'
        and pid::text not in (select json_array_elements_text(${JSON.stringify(own.map(([row]) => row!.pid))}::text::json))`;
    expect(pools.length).toBeGreaterThan(0);
    // Facts and failed attempts are each written through a separate connection.
    expect(pools.length).toBeLessThanOrEqual(POOL_MAX + 2);
  });
});
