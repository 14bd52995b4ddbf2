import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launchOptions } from '../support/browser.mjs';
import { POLL_LIMIT_MS } from '../support/limits.mjs';
import {
  endProducts,
  makeDataDir,
  type Product,
  readScreen,
  runPrinted,
  type Screen,
  startProduct,
} from '../support/product';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { COURSE, QUIZ, type Site, startSite, type Visit } from './page/site';

const ANSWER = 'correct horse battery staple';
/** A repeated delivery would arrive within this time. */
const SETTLE_MS = 1_500;

let receiver: Receiver;
let product: Product;
let screen: Screen;
let site: Site;
const browsers = new Map<string, Browser>();
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  receiver = await startReceiver();
  product = await startProduct(await makeDataDir(), { WEBHOOK_ALLOW_HOSTS: receiver.host });
  screen = readScreen(product);
  site = await startSite(async (facts) => {
    const { status, body } = await product.ingest(screen.integrationId, facts);
    if (status !== 200) throw new Error(`the pipeline endpoint answered ${status}: ${JSON.stringify(body)}`);
  });
});

/** Pages that need the same switches share a browser. */
async function openBrowser(args: string[] = []): Promise<Browser> {
  const key = args.join(' ');
  if (!browsers.has(key)) browsers.set(key, await chromium.launch(launchOptions(args)));
  return browsers.get(key)!;
}

afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});
afterAll(async () => {
  for (const browser of browsers.values()) await browser.close();
  await site?.stop();
  await endProducts();
  await receiver.stop();
});

async function openPage(options: { args?: string[]; context?: BrowserContextOptions } = {}) {
  const browser = await openBrowser(options.args);
  const context = await browser.newContext(options.context);
  contexts.push(context);
  context.setDefaultTimeout(POLL_LIMIT_MS);
  return { browser, page: await context.newPage() };
}

const api = (method: string, path: string, body?: unknown) =>
  product.call(method, path, { key: screen.demoKey, ...(body === undefined ? {} : { body }) });

async function subscribe(path: string): Promise<{ id: string; secret: string }> {
  const created = await api('POST', '/v1/webhooks', { url: `${receiver.url}${path}`, eventType: 'BotDetected' });
  expect(created.status).toBe(200);
  return created.body.data;
}
const arrived = (path: string) => receiver.received.filter((received) => received.path === path);

/** Finds the session that a page's pixel reported. */
async function findVisit(page: Page): Promise<Visit> {
  const sessionId = await page.evaluate(() => JSON.parse(sessionStorage.getItem('pixel') ?? '{}').id as string);
  await waitUntil(() => site.visits.has(sessionId));
  return site.visits.get(sessionId)!;
}

const countOf = ({ events }: Visit, type: string) =>
  events.filter((event) => event.type === type).reduce((sum, event) => sum + event.eventCount, 0);

/** Waits until the pixel has reported at least these counts. */
async function expectCounts(visit: Visit, counts: Record<string, number>): Promise<void> {
  for (const [type, least] of Object.entries(counts)) {
    const describeCount = () => `${countOf(visit, type)} of ${least} ${type} events came`;
    await waitUntil(() => countOf(visit, type) >= least, POLL_LIMIT_MS, describeCount);
  }
}

describe('the output of the first start', () => {
  it('shows a curl command that lists sessions as printed', async () => {
    const ended = await runPrinted(screen.curl, product.dataDir);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { data, pagination } = JSON.parse(ended.stdout);
    expect(data).toHaveLength(3);
    expect(data[0]).toMatchObject({ id: expect.any(String), status: 'Scored', userAgentSummary: expect.any(String) });
    expect(pagination).toMatchObject({ hasMore: true, limit: 3, nextCursor: expect.any(String) });
  });

  it('shows a command that creates a bot session as printed', async () => {
    const { id, secret } = await subscribe('/command');
    const ended = await runPrinted(screen.botCommand, product.dataDir);
    expect(ended).toMatchObject({ code: 0 });
    await waitUntil(() => arrived('/command').length > 0);
    expectSigned(arrived('/command')[0]!, secret);
    const { sessionId } = JSON.parse(arrived('/command')[0]!.body);
    expect(ended.stdout).toContain(sessionId);
    expect((await api('GET', `/v1/sessions/${sessionId}`)).body.data).toMatchObject({ riskLevel: 'bot' });
    expect((await api('DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
  });
});

describe('a session in a real browser', () => {
  it('of a program is classified as bot, shown by the API and reported to the customer, once and signed', async () => {
    const webhook = await subscribe('/browser');
    const { browser, page } = await openPage({ context: { hasTouch: true } });
    await page.goto(`${site.url}${QUIZ}`);
    await page.mouse.move(10, 10);
    await page.mouse.move(400, 300, { steps: 30 });
    await page.locator('#agree').click();
    await page.locator('#answer').tap();
    await page.keyboard.type(ANSWER);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('ControlOrMeta+C');
    const visit = await findVisit(page);
    await expectCounts(visit, { mouse: 30, touch: 1, keyboard: ANSWER.length, clipboard: 1 });
    await waitUntil(async () => (await api('GET', `/v1/sessions/${visit.sessionId}`)).status === 200);
    const early = await api('GET', `/v1/sessions/${visit.sessionId}`);
    expect(early.body.data).toMatchObject({ status: 'Active', botScore: null, riskLevel: null });

    await page.mouse.wheel(0, 2_500);
    await expectCounts(visit, { scroll: 1 });
    await page.locator('#submit').click();
    await page.waitForURL(`${site.url}${QUIZ}/done**`);
    await page.locator('#ok').click();
    await expectCounts(visit, { form: 1, visibility: 1, navigation: 1 });
    expect(await findVisit(page)).toBe(visit);
    await page.close();
    await sleep(500);
    const score = await site.finish(visit.sessionId);
    expect(score.detectionFlags).toEqual(expect.arrayContaining(['webdriver', 'linear-mouse-path']));
    expect(score.botScore).toBeGreaterThan(0.8);

    const { status, body } = await api('GET', `/v1/sessions/${visit.sessionId}`);
    expect(status).toBe(200);
    const { data: session } = body;
    const courseId = createHash('sha256').update(`${site.url}${COURSE}`).digest('hex').slice(0, 16);
    const system = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }[process.platform as string] ?? '';
    expect(session).toMatchObject({
      id: visit.sessionId,
      createdAt: visit.startedAt,
      status: 'Scored',
      botScore: score.botScore,
      detectionFlags: score.detectionFlags,
      riskLevel: 'bot',
      pageUrl: `${site.url}${QUIZ}`,
      origin: site.url,
      browser: expect.stringMatching(/^Chrom/),
      userAgentSummary: expect.stringContaining(`${browser.version().split('.')[0]} on ${system}`),
      deviceType: 'desktop',
      deviceFingerprint: visit.fingerprint,
      courseId,
      userId: null,
    });
    const since = encodeURIComponent(visit.startedAt);
    const listed = await api(
      'GET',
      `/v1/sessions?riskLevel=bot&origin=${encodeURIComponent(site.url)}&startDate=${since}`,
    );
    expect(listed.body.data).toEqual([session]);
    const newest = await api('GET', '/v1/sessions?pageSize=1');
    expect(newest.body.data).toEqual([session]);

    await waitUntil(() => arrived('/browser').length > 0);
    await sleep(SETTLE_MS);
    expect(arrived('/browser')).toHaveLength(1);
    const [received] = arrived('/browser');
    expectSigned(received!, webhook.secret);
    const signed = `${received!.headers['x-webhook-timestamp']}.${received!.body}`;
    const signature = createHmac('sha256', webhook.secret).update(signed).digest('hex');
    expect(received!.headers).toMatchObject({
      'x-webhook-signature': `sha256=${signature}`,
      'content-type': 'application/json',
      'x-webhook-event': 'BotDetected',
      'x-webhook-id': webhook.id,
      'x-webhook-delivery-id': expect.stringMatching(/\S/),
    });
    expect(received!.headers).not.toHaveProperty('x-webhook-test');
    expect(JSON.parse(received!.body)).toMatchObject({
      sessionId: visit.sessionId,
      botScore: score.botScore,
      scoredAt: score.scoredAt,
      userId: null,
      contextId: courseId,
    });
    const subscription = await api('GET', `/v1/webhooks/${webhook.id}`);
    expect(subscription.body.data).toMatchObject({
      lastDeliveryStatus: 'Delivered',
      lastDeliveryAt: expect.any(String),
    });
    expect(subscription.body.data).not.toHaveProperty('secret');

    expect(site.beacons.join('\n')).not.toContain(ANSWER);
    expect(JSON.stringify([session, received])).not.toContain(ANSWER);
  });

  it('of a person is not a bot, and no webhook is sent', async () => {
    await subscribe('/person');
    const probe = await openPage();
    const userAgent = (await probe.page.evaluate(() => navigator.userAgent)).replace('Headless', '');
    const { page } = await openPage({
      args: ['--disable-blink-features=AutomationControlled'],
      context: { userAgent },
    });
    await page.goto(`${site.url}${QUIZ}`);
    for (let step = 0; step < 60; step++) {
      await page.mouse.move(200 + 150 * Math.cos(step / 6), 200 + 120 * Math.sin(step / 4));
      await sleep(10);
    }
    await page.mouse.wheel(0, 400);
    const visit = await findVisit(page);
    await expectCounts(visit, { mouse: 30, scroll: 1 });
    await page.close();
    await sleep(500);
    expect(await site.finish(visit.sessionId)).toMatchObject({ botScore: 0.04, detectionFlags: [] });

    const { body } = await api('GET', `/v1/sessions/${visit.sessionId}`);
    expect(body.data).toMatchObject({ status: 'Scored', botScore: 0.04, detectionFlags: [], riskLevel: 'human' });
    expect(body.data.userAgentSummary).not.toMatch(/bot/i);
    await sleep(SETTLE_MS);
    expect(arrived('/person')).toEqual([]);
  });
});

describe('the interactive documentation', () => {
  it('shows every operation, complies with its own policy and executes a request with the demo key', async () => {
    const { page } = await openPage();
    const complaints: string[] = [];
    const keep = (kind: string, what: string) => complaints.push(`${kind}: ${what}`);
    await page.addInitScript(() => {
      const violations: string[] = [];
      Object.assign(window, { violations });
      const keepViolation = ({ violatedDirective, blockedURI }: SecurityPolicyViolationEvent) =>
        violations.push(`${violatedDirective} ${blockedURI}`);
      document.addEventListener('securitypolicyviolation', keepViolation);
    });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) keep(message.type(), message.text());
    });
    page.on('pageerror', (error) => keep('exception', error.message));
    page.on('requestfailed', (request) => keep('request', `${request.url()} ${request.failure()?.errorText}`));
    page.on('response', (response) => {
      if (response.status() >= 400) keep('response', `${response.status()} ${response.url()}`);
    });

    await page.goto(`${product.url}/swagger`);
    const { body: document } = await product.call('GET', '/openapi/v3.json');
    const methods = ['get', 'put', 'post', 'delete', 'patch'];
    const operations = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, item]) =>
      methods.filter((method) => method in item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const blocks = page.locator('.opblock');
    await blocks.first().waitFor();
    const shown = await blocks.evaluateAll((elements) =>
      elements.map((element) => {
        const textOf = (selector: string) => element.querySelector(selector)?.textContent?.replaceAll('\u200b', '');
        return `${textOf('.opblock-summary-method')} ${textOf('.opblock-summary-path')}`;
      }),
    );
    const webhooks = Object.keys(document.webhooks).map((name) => `POST ${name}`);
    expect(shown.sort()).toEqual([...operations, ...webhooks].sort());
    expect(operations).toContain('GET /v1/integration');

    await page.locator('.auth-wrapper .authorize').click();
    const dialog = page.locator('.modal-ux');
    const scheme = dialog.locator('.auth-container', { hasText: 'bearer_auth' });
    await scheme.locator('input').fill(screen.demoKey);
    await scheme.getByRole('button', { name: 'Apply credentials' }).click();
    await dialog.locator('.close-modal').click();

    const operation = page.locator('.opblock', { has: page.locator('[data-path="/v1/integration"]') });
    await operation.locator('.opblock-summary').click();
    const answered = page.waitForResponse(`${product.url}/v1/integration`);
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = await answered;
    expect(answer.status()).toBe(200);
    const live = operation.locator('.live-responses-table .response').first();
    expect((await live.locator('.response-col_status').textContent())?.trim()).toMatch(/^200/);
    expect(await live.locator('.highlight-code').textContent()).toContain(screen.integrationId);

    expect(await page.evaluate(() => (window as unknown as { violations: string[] }).violations)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
