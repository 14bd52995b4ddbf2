import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY_SCOPES } from '../../contract/integrations';
import { openDatabase } from '../../db/client';
import { createInngestClient } from '../../inngest/client';
import { asOperator } from '../../server/audit/acts';
import { createStaff } from '../../server/auth/accounts';
import { mintKey } from '../../server/domain/api-keys';
import { createIntegration } from '../../server/domain/integrations';
import { expectError } from '../support/answers';
import { sendRaw } from '../support/connection';
import { createEmptyDatabase } from '../support/database';
import { OpenApiDocument } from '../support/document';
import { alert, anomaly, correlated, happened, report, scoredSession } from '../support/facts';
import { listOperations } from '../support/operations';
import { endProducts, makeDataDir, type Product, startProduct } from '../support/product';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { createClient } from '../support/server';
import { openStaffClient, readCookie, trySignIn } from '../support/staff-client';

// Two regions as two operators would run them: they share one build, and each has its own database and secrets.

const REGIONS = ['us', 'eu'] as const;
type Region = (typeof REGIONS)[number];
const PUBLIC_URLS = { PUBLIC_URL_US: 'https://us.api.example.com', PUBLIC_URL_EU: 'https://eu.api.example.com' };
const PASSWORD = 'correct horse battery';

interface Stack {
  region: Region;
  product: Product;
  pipelineToken: string;
  tenant: { id: string; key: string };
  /** A text in all data that only this stack receives. */
  mark: string;
  sessionId: string;
  subscription: { id: string; secret: string };
  told: { eventId: string; deliveryId: string; receiptId: string };
  /** An account that only this stack has, and one that both have. */
  emails: { own: string; shared: string };
}

let receiver: Receiver;
const databases: { drop(): Promise<void> }[] = [];
const stacks = {} as Record<Region, Stack>;
beforeAll(async () => {
  receiver = await startReceiver();
  const started = await Promise.all(REGIONS.map(async (region) => [region, await startStack(region)] as const));
  Object.assign(stacks, Object.fromEntries(started));
});
afterAll(async () => {
  await endProducts();
  await receiver.stop();
  for (const database of databases) await database.drop();
});

async function startStack(region: Region): Promise<Stack> {
  const database = await createEmptyDatabase();
  databases.push(database);
  const pipelineToken = randomBytes(24).toString('hex');
  const product = await startProduct(await makeDataDir(), {
    REGION: region,
    DATABASE_URL: database.url,
    APP_SECRET: randomBytes(32).toString('base64'),
    PIPELINE_TOKEN: pipelineToken,
    LOG_LEVEL: 'warn',
    WEBHOOK_ALLOW_HOSTS: receiver.host,
    WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1',
    ...PUBLIC_URLS,
  });
  const db = openDatabase({ url: database.url, maxConnections: 1 });
  const operator = asOperator(db);
  const { id } = await createIntegration(operator, {
    name: 'One name in both',
    plan: 'enterprise',
    allowedOrigins: [],
  });
  const { key } = await mintKey(operator, { integrationId: id, name: 'test', scopes: [...KEY_SCOPES] });
  const emails = { own: `only-${region}@example.com`, shared: 'both@example.com' };
  for (const email of Object.values(emails))
    await createStaff(operator, { email, password: PASSWORD, role: 'admin', name: email });
  await db.close();

  const subscribe = async (eventType: string) => {
    const body = { url: `${receiver.url}/${region}`, eventType, name: eventType };
    const answer = await product.call('POST', '/v1/webhooks', { key, body });
    expect(answer.status).toBe(200);
    return answer.body.data;
  };
  const subscription = await subscribe('BotDetected');
  await subscribe('SessionAnomaly');

  const mark = `mark-${region}-${randomBytes(8).toString('hex')}`;
  const sessionId = `${mark}-bot`;
  const origin = `https://${mark}.example.edu`;
  const [first, ...rest] = scoredSession(0.95, sessionId).facts;
  const facts = [
    { ...first, pageUrl: `${origin}/courses/1`, deviceFingerprint: `${mark}-device` },
    happened(sessionId, [{ sequence: 1, url: `${origin}/courses/1/quiz`, type: 'navigation' }]),
    ...rest,
    correlated(sessionId, `${mark}-user`, { user: { id: `${mark}-user`, name: mark } }),
    anomaly(`${mark}-anomaly`, { sessionId }),
    report(`${mark}-report`, { reportName: mark }),
    alert(`${mark}-alert`, { message: mark }),
    ...scoredSession(0.1, `${mark}-human`).facts,
  ];
  expect((await product.ingest(id, facts)).body.result.data).toMatchObject({ accepted: facts.length });
  const [event] = (await product.call('GET', '/v1/webhook-events?eventType=BotDetected', { key })).body.data;
  const told = {
    eventId: event.id,
    deliveryId: event.outcomes[0].deliveryId,
    receiptId: (await product.call('DELETE', '/v1/users/gone', { key })).body.data.id,
  };
  return { region, product, pipelineToken, tenant: { id, key }, mark, sessionId, subscription, told, emails };
}

const otherOf = ({ region }: Stack) => stacks[region === 'us' ? 'eu' : 'us'];
const idsOf = (stack: Stack) => ({
  sessionId: stack.sessionId,
  userId: `${stack.mark}-user`,
  fingerprint: `${stack.mark}-device`,
  id: stack.subscription.id,
  ...stack.told,
});
const fillPath = (path: string, stack: Stack) =>
  path.replace(/\{(\w+)\}/g, (_, name: keyof ReturnType<typeof idsOf>) => idsOf(stack)[name]);
const readDocument = async ({ product }: Stack) =>
  new OpenApiDocument((await product.call('GET', '/openapi/v3.json')).body);

describe.each(REGIONS)('the stack of %s', (region) => {
  it('answers a key of the other region like an unknown key, byte for byte, on every route', async () => {
    const stack = stacks[region];
    const { url } = stack.product;
    const unknown = `aik_v1_${randomBytes(30).toString('base64url')}`;
    const see = async (method: string, target: string, headers: Record<string, string>) => {
      const { status, rawHeaders, text } = await sendRaw(url, method, target, { headers });
      return { status, headers: rawHeaders.filter(([name]) => !/^(date|x-request-id)$/i.test(name)), text };
    };
    const operations = listOperations(await readDocument(stack)).filter(({ needsKey }) => needsKey);
    expect(operations.length).toBeGreaterThan(15);
    for (const { method, path } of [...operations, { method: 'GET', path: '/v1/nothing' }]) {
      const target = fillPath(path, otherOf(stack));
      for (const toHeader of [
        (key: string) => ({ Authorization: `Bearer ${key}` }),
        (key: string) => ({ 'x-api-key': key }),
      ]) {
        const foreign = await see(method, target, toHeader(otherOf(stack).tenant.key));
        expect(foreign).toEqual(await see(method, target, toHeader(unknown)));
        expect([foreign.status, JSON.parse(foreign.text).error.code]).toEqual([401, 'INVALID_API_KEY']);
      }
    }
  });

  it("shows the other region's data in no answer and on no page", async () => {
    const stack = stacks[region];
    const { key, id } = stack.tenant;
    const texts: string[] = [];
    for (const { method, path } of listOperations(await readDocument(stack))) {
      if (method !== 'GET' || path === '/swagger') continue;
      const response = await fetch(stack.product.url + fillPath(path, stack), {
        headers: { authorization: `Bearer ${key}`, connection: 'close' },
      });
      expect([path, response.status]).toEqual([path, 200]);
      texts.push(await response.text());
    }
    const cookie = await signIn(stack, stack.emails.shared);
    for (const page of ['overview', 'sessions', 'users', 'courses', 'anomalies', 'alerts', 'reports', 'webhooks']) {
      const response = await fetch(`${stack.product.url}/dashboard/${id}/${page}`, { headers: { cookie } });
      expect([page, response.status]).toEqual([page, 200]);
      texts.push(await response.text());
    }
    const text = texts.join('\n');
    expect(text).toContain(stack.mark);
    expect(text).not.toContain(otherOf(stack).mark);
    expect(text).not.toContain(otherOf(stack).tenant.id);
  });

  it("answers for the other region's records as for unknown ones", async () => {
    const stack = stacks[region];
    const { key } = stack.tenant;
    for (const path of ['/v1/sessions/{sessionId}', '/v1/sessions/{sessionId}/details', '/v1/webhooks/{id}'])
      expectError(await stack.product.call('GET', fillPath(path, otherOf(stack)), { key }), 'NOT_FOUND');
  });

  it('sends only its own events, signed with its own secrets', async () => {
    const stack = stacks[region];
    const arrived = () => receiver.received.filter(({ path }) => path === `/${region}`);
    await waitUntil(() => arrived().length >= 2);
    const bodies = arrived().map(({ body }) => JSON.parse(body));
    expect(bodies.map((body) => body.sessionId)).toEqual([stack.sessionId, stack.sessionId]);
    const bot = arrived().find(({ headers }) => headers['x-webhook-event'] === 'BotDetected')!;
    expectSigned(bot, stack.subscription.secret);
    expect(JSON.parse(bot.body).sessionUrl).toContain(`https://${region}.api.example.com/`);
  });

  it('accepts no account and no cookie of the other region', async () => {
    const stack = stacks[region];
    const client = { url: stack.product.url, ...createClient(stack.product.url) };
    const own = openStaffClient(client, await signIn(stack, stack.emails.shared));
    expect((await own.query('staff.me')).status).toBe(200);
    // The same person, with an account in both regions.
    const cookie = await signIn(otherOf(stack), stack.emails.shared);
    expect((await openStaffClient(client, cookie).query('staff.me')).status).toBe(401);
    const page = await fetch(`${stack.product.url}/dashboard/${stack.tenant.id}/sessions`, {
      headers: { cookie },
      redirect: 'manual',
    });
    expect([page.status, page.headers.get('location')]).toEqual([307, expect.stringContaining('/sign-in')]);
    const refusals = await Promise.all(
      [otherOf(stack).emails.own, 'nobody@example.com'].map((email) =>
        trySignIn(client, { email, password: PASSWORD }),
      ),
    );
    expect(refusals.map(({ status }) => status)).toEqual([401, 401]);
    expect(refusals[0]!.text).toBe(refusals[1]!.text);
  });

  it('accepts no cursor of the other region', async () => {
    const stack = stacks[region];
    const path = '/v1/sessions?pageSize=1';
    const read = ({ product, tenant }: Stack, cursor = '') =>
      product.call('GET', `${path}${cursor && `&cursor=${cursor}`}`, { key: tenant.key });
    const { nextCursor } = (await read(stack)).body.pagination;
    expect((await read(stack, nextCursor)).status).toBe(200);
    const foreign = (await read(otherOf(stack))).body.pagination.nextCursor;
    expectError(await read(stack, foreign), 'INVALID_REQUEST', 'cursor');
  });

  it('accepts no facts from the other region’s pipeline, and none for its integrations', async () => {
    const stack = stacks[region];
    const { facts } = scoredSession(0.9);
    expect((await stack.product.ingest(otherOf(stack).tenant.id, facts)).status).toBe(404);
    const refused = await fetch(`${stack.product.url}/api/trpc/pipeline.ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${otherOf(stack).pipelineToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ integrationId: stack.tenant.id, facts }),
    });
    expect(refused.status).toBe(401);
  });

  it('names its region and both addresses, and has its own Inngest app', async () => {
    const stack = stacks[region];
    const { data } = (await stack.product.call('GET', '/v1/integration', { key: stack.tenant.key })).body;
    expect(data).toMatchObject({ region, id: stack.tenant.id });
    const { servers } = (await readDocument(stack)).json;
    expect(servers.map(({ url }: { url: string }) => url).sort()).toEqual(Object.values(PUBLIC_URLS).sort());
    expect(createInngestClient({ region, logger: console, onRun: () => {}, onCall: () => {} }).id).toBe(
      `bot-detection-${region}`,
    );
  });
});

async function signIn({ product, region }: Stack, email: string): Promise<string> {
  const client = { url: product.url, ...createClient(product.url) };
  const answer = await trySignIn(client, { email, password: PASSWORD });
  expect([region, answer.status]).toEqual([region, 200]);
  return readCookie(answer);
}
