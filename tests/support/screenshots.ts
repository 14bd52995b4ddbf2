import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import upng from 'upng-js';
import { createRandom, makeSessionFacts } from '../../server/demo/session-facts';
import { type Dashboard, settle, startDashboard } from './dashboard';

// Takes the pictures of the README's tour (`npm run screenshots`): every page of the dashboard in light and dark,
// filled with the demo integration and with webhooks that a receiver on this machine accepts or refuses.

const DIRECTORY = 'docs/tour';
const RECEIVER = { host: '127.0.0.1', port: 9_000 };
const MAX_BYTES = 120_000;
const MAX_TOTAL_BYTES = 3_000_000;
/** Tried in turn until a picture is small enough. */
const COLOURS = [128, 64, 32];
const BOTS = 18;
const LABELS = ['bot', 'bot', 'human', 'bot', 'human'];

type Shown = { userId: string | null; riskLevel: string | null };

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Starts a receiver that refuses every fourth request and takes some milliseconds for each. */
async function startReceiver() {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1;
      const status = request.url === '/old' || count % 4 === 0 ? 503 : 204;
      setTimeout(() => response.writeHead(status).end(), 5 + ((count * 37) % 60));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(RECEIVER.port, RECEIVER.host, resolve);
  });
  return {
    url: `http://${RECEIVER.host}:${RECEIVER.port}`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

/** Adds webhooks with a history, labels and a second colleague. Returns the ids that the pages' paths need. */
async function furnish({ api, ask, product, integrationId, open, change }: Dashboard, receiverUrl: string) {
  const subscribe = async (name: string, path: string, eventType: string, more: object = {}): Promise<string> =>
    (await api('POST', '/v1/webhooks', { name, url: `${receiverUrl}${path}`, eventType, ...more })).body.data.id;
  const threshold = { field: 'severity', operator: 'in', value: ['medium', 'high'] };
  const webhook = await subscribe('Bots to the gradebook', '/gradebook', 'BotDetected');
  await subscribe('Anomalies to the help desk', '/help-desk', 'SessionAnomaly', { threshold });
  await subscribe('Matches to the warehouse', '/warehouse', 'SessionCorrelated', { enabled: false });
  const old = await subscribe('Bots to the old gateway', '/old', 'BotDetected');
  const random = createRandom(5);
  for (let n = 0; n < BOTS; n++) {
    const { facts } = makeSessionFacts('bot', Date.now() - (BOTS - n) * 60_000, random);
    const { status } = await product.ingest(integrationId, facts);
    if (status !== 200) throw new Error(`the endpoint answered ${status}`);
  }
  await waitFor(async () => {
    const { data } = (await api('GET', '/v1/webhooks')).body;
    const byId = new Map(data.map((one: { id: string }) => [one.id, one]));
    const states = [byId.get(webhook), byId.get(old)] as {
      lastDeliveryStatus: string;
      disabledReason: string | null;
    }[];
    return states[0]?.lastDeliveryStatus === 'Delivered' && states[1]?.disabledReason != null;
  });
  const { data: sessions } = (await api('GET', '/v1/sessions?pageSize=40')).body;
  for (const [n, verdict] of LABELS.entries())
    await api('POST', `/v1/sessions/${sessions[BOTS + 3 * n].id}/label`, { verdict });
  const first = async (path: string): Promise<string> => (await api('GET', `${path}?pageSize=1`)).body.data[0].id;
  const [user, course] = await Promise.all([first('/v1/users'), first('/v1/courses')]);
  const admin = await open({ role: 'admin' });
  const analyst = { email: 'grace@example.com', name: 'Grace Hopper', password: 'correct horse battery' };
  await change(admin.context(), 'staff.create', { ...analyst, role: 'analyst' });
  const list = async (procedure: string, input: object) =>
    (await (await ask(admin.context(), procedure, input)).json()).result.data.data;
  const deliveries: { id: string; status: string }[] = await list('deliveries.list', { id: webhook });
  const [anomaly] = await list('anomalies.list', { anomalyType: 'AgentTakeover' });
  const delivery = deliveries.find(({ status }) => status === 'Delivered')?.id ?? '';
  const known = sessions.filter(({ userId, riskLevel }: Shown) => userId !== null && riskLevel === 'bot');
  return { session: known[1].id as string, user, course, webhook, delivery, anomaly };
}

/** Lists the pages by the names of their pictures. */
function listPages({ session, user, course, webhook, delivery, anomaly }: Awaited<ReturnType<typeof furnish>>) {
  return {
    overview: '/overview',
    review: '/review?window=7d',
    sessions: `/sessions?selected=${session}`,
    session: `/sessions/${session}`,
    writing: `/sessions/${anomaly.sessionId}`,
    evidence: `/sessions/${session}/evidence`,
    users: '/users',
    user: `/users/${user}`,
    courses: '/courses',
    course: `/courses/${course}`,
    webhooks: '/webhooks',
    'webhook-new': '/webhooks/new',
    webhook: `/webhooks/${webhook}`,
    delivery: `/webhooks/${webhook}?delivery=${delivery}`,
    anomalies: `/anomalies?selected=${anomaly.id}`,
    alerts: '/alerts',
    'alert-rule': '/alerts/rules/new',
    reports: '/reports',
    usage: '/usage',
    setup: '/setup',
    documents: '/documents',
    'settings-keys': '/settings?tab=api-keys',
    'settings-sites': '/settings?tab=sites',
    'settings-thresholds': '/settings?tab=thresholds',
    'settings-integration': '/settings?tab=integration',
    'settings-staff': '/settings?tab=staff',
    'settings-audit': '/settings?tab=audit',
  };
}

async function waitFor(isDone: () => Promise<boolean>): Promise<void> {
  for (const until = Date.now() + 60_000; !(await isDone()); ) {
    if (Date.now() > until) throw new Error('the webhooks have not come to rest within a minute');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Reduces the colours of a picture until it is small enough. */
function shrink(picture: Buffer): Buffer {
  const decoded = upng.decode(new Uint8Array(picture).buffer);
  for (const colours of COLOURS) {
    const small = Buffer.from(upng.encode(upng.toRGBA8(decoded), decoded.width, decoded.height, colours));
    if (small.length <= MAX_BYTES) return small;
  }
  throw new Error(`a picture stays above ${MAX_BYTES} bytes`);
}

/** Does the tasks of the demo page like an agent, and waits for what the verdict says of it. */
async function actAsAgent(page: Page): Promise<void> {
  await page.getByLabel('Carbon dioxide').check();
  await page.getByLabel('Why do leaves look green?').fill('Chlorophyll reflects green light.');
  await page.getByRole('button', { name: 'Hand in the quiz' }).click();
  await page.getByLabel(/what would change/).fill('Black plants would grow warmer and need more water.');
  await page.getByRole('button', { name: 'Hand in the essay' }).click();
  await page.locator('[data-risk="bot"]').waitFor();
  await page.locator('li', { hasText: 'Text appears without keys' }).getByText('Found', { exact: true }).waitFor();
}

async function takePictures({ open, base, product }: Dashboard, pages: Record<string, string>): Promise<number> {
  let total = 0;
  const take = async (page: Page, name: string, address: string) => {
    await page.goto(address);
    await settle(page);
    if (name.startsWith('writing'))
      await page.getByRole('heading', { name: 'Writing' }).evaluate((heading) => heading.scrollIntoView());
    await shoot(page, name);
  };
  const shoot = async (page: Page, name: string) => {
    await settle(page);
    const picture = shrink(await page.screenshot({ animations: 'disabled' }));
    await writeFile(join(DIRECTORY, `${name}.png`), picture);
    say(`${name}.png  ${Math.round(picture.length / 1_000)} KB`);
    total += picture.length;
  };
  for (const theme of ['light', 'dark'] as const) {
    await take(await open({ theme }), `sign-in-${theme}`, `${product.url}/sign-in`);
    const demo = await open({ theme });
    await demo.goto(`${product.url}/demo`);
    await actAsAgent(demo);
    await shoot(demo, `demo-${theme}`);
    const page = await open({ role: 'admin', theme });
    for (const [name, path] of Object.entries(pages)) await take(page, `${name}-${theme}`, `${base}${path}`);
  }
  return total;
}

const receiver = await startReceiver();
const dashboard = await startDashboard({
  WEBHOOK_ALLOW_HOSTS: `${RECEIVER.host}:${RECEIVER.port}`,
  WEBHOOK_RETRY_DELAYS: '0s,20ms,20ms,20ms,20ms,20ms',
});
try {
  const pages = listPages(await furnish(dashboard, receiver.url));
  await mkdir(DIRECTORY, { recursive: true });
  const total = await takePictures(dashboard, pages);
  const faults = dashboard.takeFaults();
  if (faults.length > 0) throw new Error(faults.join('\n'));
  if (total > MAX_TOTAL_BYTES) throw new Error(`${total} bytes in all are more than ${MAX_TOTAL_BYTES}`);
  say(`${Math.round(total / 1_000)} KB in ${DIRECTORY}`);
} finally {
  await dashboard.stop();
  await receiver.stop();
}
