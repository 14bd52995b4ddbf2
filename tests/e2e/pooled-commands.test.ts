import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerCommand } from '../../server/commands';
import { readEnv, SettingError } from '../../server/platform/env';
import { createLogger } from '../../server/platform/log';
import { prepareRuntime } from '../../server/runtime';
import { createEmptyDatabase } from '../support/database';
import { findPgBouncer, type Pooler, startPooler } from '../support/pooler';
import { endProducts, makeDataDir, runAdmin } from '../support/product';

// The operator's commands for a database that customers' requests reach through a transaction pooler, as on Vercel.

const PGBOUNCER = findPgBouncer(process.env);

let database: { url: string; drop(): Promise<void> };
let dataDir: string;
let pooler: Pooler | null = null;
let settings: Record<string, string>;
beforeAll(async () => {
  [database, dataDir] = await Promise.all([createEmptyDatabase(), makeDataDir()]);
  pooler = PGBOUNCER === null ? null : await startPooler(PGBOUNCER, database.url);
  const url = new URL(database.url);
  if (pooler) url.port = String(pooler.port);
  const secret = randomBytes(32).toString('base64');
  settings = { DATABASE_URL: url.href, DATABASE_POOLER: 'transaction', APP_SECRET: secret, REGION: 'eu' };
});
afterAll(async () => {
  await endProducts();
  await pooler?.stop();
  await database.drop();
});

const FAULT = 'DATABASE_DIRECT_URL: is required with DATABASE_POOLER where the database is migrated';

it('a command does not migrate through a pooler', async () => {
  const readPassword = () => Promise.reject(new Error('no command asks for one'));
  const answer = await answerCommand(['db', 'migrate'], { settings: { DATA_DIR: dataDir, ...settings }, readPassword });
  expect(answer).toMatchObject({ code: 1, stderr: `${FAULT}\n` });
});

it('the server does not migrate through a pooler', async () => {
  const env = readEnv({ DATA_DIR: dataDir, ...settings });
  await expect(prepareRuntime(env, createLogger(env))).rejects.toThrow(new SettingError(FAULT));
});

describe.skipIf(!PGBOUNCER)(`through PgBouncer (${PGBOUNCER ?? 'none: no pgbouncer on the PATH'})`, () => {
  it('migrates directly, and creates the first customer and staff account, also with several commands at once', async () => {
    const admin = async (...args: string[]) => {
      const ended = await runAdmin(dataDir, [...args, '--json'], { ...settings, DATABASE_DIRECT_URL: database.url });
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      return JSON.parse(ended.stdout);
    };
    expect((await admin('db', 'migrate')).applied).toContain('0000_initial');
    const { id } = await admin('integration', 'create', '--name', 'First', '--plan', 'pro');
    const staff = ['--password', 'correct horse battery', '--role', 'admin'];
    const [key, listed] = await Promise.all([
      admin('key', 'mint', '--integration', id),
      admin('integration', 'list'),
      admin('staff', 'create', '--email', 'ada@example.com', ...staff),
      admin('db', 'migrate'),
    ]);
    expect(key.key).toMatch(/^aik_v1_/);
    expect(listed.integrations).toEqual([expect.objectContaining({ id, plan: 'pro' })]);
  });
});
