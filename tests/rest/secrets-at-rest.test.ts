import { afterAll, beforeAll, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { createStaff, setStaffPassword } from '../../server/auth/accounts';
import { scoredSession } from '../support/facts';
import { type NextServer, startNextServer } from '../support/next-server';
import { type Receiver, startReceiver } from '../support/receiver';
import { createClient, PIPELINE_TOKEN, startTestServer, type TestServer } from '../support/server';
import { openStaffClient, readCookie, trySignIn } from '../support/staff-client';

// The test calls everything that takes or gives a secret. After that, nobody who reads the database or the log learns
// one.

const PASSWORDS = ['correct horse battery', 'a wrong password!', 'the operator’s own', 'one of my own choice'];
const WRONG_KEY = `aik_v1_${'w'.repeat(40)}`;

let server: TestServer;
let receiver: Receiver;
let next: NextServer;
/** Each secret that must not be found, by its name. */
let secrets: Record<string, string>;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer();
  next = await startNextServer(server, { LOG_LEVEL: 'trace', WEBHOOK_ALLOW_HOSTS: receiver.host });
  secrets = await tour();
});
afterAll(async () => {
  await next?.stop();
  await server.stop();
  await receiver.stop();
});

async function tour() {
  const { db } = server.service;
  const email = 'admin@example.com';
  const [password = '', wrong = '', another = '', chosen = ''] = PASSWORDS;
  await createStaff(asOperator(db), { email, password, role: 'admin' });
  const client = { url: next.url, ...createClient(next.url) };
  expect((await trySignIn(client, { email, password: wrong })).status).toBe(401);
  const cookie = readCookie(await trySignIn(client, { email, password }));
  const staff = openStaffClient(client, cookie);
  const create = async (procedure: string, input: object, id = '') => {
    const answer = await staff.mutate(procedure, input, { 'x-integration-id': id });
    expect([procedure, answer.status]).toEqual([procedure, 200]);
    return answer.body.result.data;
  };
  const { id } = await create('integrations.create', { name: 'Toured', plan: 'enterprise' });
  const { key } = await create('apiKeys.mint', { name: 'Toured' }, id);
  const { identitySecret } = await create('sites.rotateIdentitySecret', {}, id);
  await create('staff.create', { email: 'other@example.com', password, role: 'viewer' });
  await setStaffPassword(asOperator(db), { email: 'other@example.com', password: another });
  const invited = await create('invitations.create', { email: 'invited@example.com', name: 'Invited', role: 'viewer' });
  const pending = await create('invitations.create', { email: 'pending@example.com', name: 'Pending', role: 'viewer' });
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    client.call('POST', path, { body, headers: { origin: next.url, ...headers } });
  const used = { token: invited.token, password: chosen };
  expect((await post('/api/auth/invitation', used)).status).toBe(200);
  const accepted = await post('/api/auth/invitation/accept', used);
  expect(accepted.status).toBe(200);
  expect((await post('/api/auth/invitation/accept', used)).status).toBe(401);
  const change = { currentPassword: wrong, newPassword: another };
  expect((await post('/api/auth/password', change, { cookie: readCookie(accepted) })).status).toBe(400);
  const call = async (method: string, path: string, body?: object) => {
    const answer = await client.call(method, path, { key, body });
    expect([method, path, answer.status]).toEqual([method, path, 200]);
    return answer.body.data;
  };
  const webhook = await call('POST', '/v1/webhooks', { url: `${receiver.url}/`, eventType: 'BotDetected' });
  await call('POST', `/v1/webhooks/${webhook.id}/test`);
  const rotated = await call('POST', `/v1/webhooks/${webhook.id}/rotate-secret`);
  await call('POST', `/v1/webhooks/${webhook.id}/test`);
  await call('PUT', '/v1/settings/risk-thresholds', { mediumAt: 20, botAt: 60 });
  expect((await client.ingest(id, scoredSession(0.9, 'session-1').facts)).status).toBe(200);
  for (const headers of [{ authorization: `Bearer ${WRONG_KEY}` }, { 'x-api-key': WRONG_KEY }] as Record<
    string,
    string
  >[])
    expect((await client.call('GET', '/v1/sessions', { headers })).status).toBe(401);
  await fail(async () => {
    const body = { url: `${receiver.url}/`, eventType: 'BotDetected' };
    return [
      await client.call('POST', '/v1/webhooks', { key, body }),
      await staff.mutate('apiKeys.mint', { name: 'x' }, { 'x-integration-id': id }),
      await staff.mutate('staff.create', { email: 'third@example.com', password }),
      await trySignIn(client, { email, password }),
      await post('/api/auth/invitation/accept', { token: pending.token, password: chosen }),
    ];
  });
  const token = cookie.slice(cookie.indexOf('=') + 1);
  return {
    'API key': key,
    'wrong key': WRONG_KEY,
    'first webhook secret': webhook.secret,
    'second webhook secret': rotated.secret,
    'identity secret': identitySecret,
    'session token': token,
    'used invitation': invited.token,
    'open invitation': pending.token,
    'pipeline token': PIPELINE_TOKEN,
    'application secret': server.service.env.APP_SECRET!.toString('base64'),
    ...Object.fromEntries(PASSWORDS.map((one, n) => [`password ${n}`, one])),
  };
}

/** Makes writes of secrets fail in the database, so that the faults are logged with everything they know. */
async function fail(act: () => Promise<{ status: number }[]>) {
  const { sql } = server.database.db;
  const tables = ['webhook_subscriptions', 'api_keys', 'staff', 'staff_sessions'];
  for (const table of tables) await sql`alter table ${sql(table)} add constraint closed check (false) not valid`;
  const answers = await act();
  for (const table of tables) await sql`alter table ${sql(table)} drop constraint closed`;
  expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 500, 500]);
}

/**
 * A secret in every form: plain, without its prefix, in hex (as bytes are printed) and in base64, and the bytes that it
 * encodes.
 */
function spell(secret: string): string[] {
  const body = secret.replace(/^(aik_v1_|whsec_|idsec_)/, '');
  const bytes = [Buffer.from(secret), Buffer.from(body), Buffer.from(body, 'base64')].filter(
    ({ length }) => length > 11,
  );
  return [secret, body, ...bytes.flatMap((one) => [one.toString('hex'), one.toString('base64').replace(/=+$/, '')])];
}

async function dumpDatabase(): Promise<string> {
  const { sql } = server.database.db;
  const tables = await sql<{ schema: string; name: string }[]>`
    select table_schema as schema, table_name as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  expect(tables.length).toBeGreaterThan(25);
  const dumps: string[] = [];
  for (const { schema, name } of tables) {
    const rows = await sql<{ row: string }[]>`select t::text as row from ${sql(schema)}.${sql(name)} t`;
    dumps.push(...rows.map(({ row }) => `${schema}.${name} ${row}`));
  }
  return dumps.join('\n');
}

const findSecrets = (text: string) =>
  Object.entries(secrets).flatMap(([name, secret]) => (spell(secret).some((one) => text.includes(one)) ? [name] : []));

it('the database stores no secret in plain', async () => {
  const dump = await dumpDatabase();
  for (const table of [
    'api_keys',
    'webhook_subscriptions',
    'staff',
    'staff_sessions',
    'staff_invitations',
    'audit_entries',
    'webhook_attempts',
  ])
    expect(dump).toContain(`public.${table} `);
  expect(findSecrets(dump)).toEqual([]);
  // The search finds a secret that is there.
  await server.database.db.sql`insert into rate_windows values (${secrets['API key']!}, now(), 1)`;
  expect(findSecrets(await dumpDatabase())).toEqual(['API key']);
});

it('the log contains no secret, not even in the faults', async () => {
  const countFaults = () => next.output().match(/a request failed|a call failed|could not be read or changed/g)?.length;
  await expect.poll(countFaults).toBeGreaterThanOrEqual(5);
  expect(findSecrets(next.output())).toEqual([]);
});
