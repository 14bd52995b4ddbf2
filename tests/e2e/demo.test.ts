import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unpackTrace } from '../../server/collector/packing';
import { type Box, openPage, Person } from '../lab/person';
import { listMissingPrograms, openScreen } from '../lab/screen';
import { launchOptions } from '../support/browser.mjs';
import { createDemoSettings } from '../support/database';
import { type Ended, endProducts, makeDataDir, type Product, readScreen, startProduct } from '../support/product';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';

// The demo page with the built product: from what happens in a real browser to a signed webhook.

/** From the arrival of what the agent did to the verdict that it reads. What the browser takes before is not the product's. */
const MAX_VERDICT_SECONDS = 2;

let receiver: Receiver;
let product: Product;
let key: string;
let secret: string;
let databaseUrl: string;
let browser: Browser;

beforeAll(async () => {
  receiver = await startReceiver();
  const settings = await createDemoSettings();
  databaseUrl = settings.DATABASE_URL!;
  const more = { WEBHOOK_ALLOW_HOSTS: receiver.host, LOG_LEVEL: 'trace', SESSION_GONE: '1s' };
  product = await startProduct(await makeDataDir(), { ...settings, ...more });
  key = readScreen(product).demoKey;
  const subscription = { url: `${receiver.url}/bots`, eventType: 'BotDetected' };
  const created = await product.call('POST', '/v1/webhooks', { key, body: subscription });
  expect(created.status).toBe(200);
  secret = created.body.data.secret;
  // Then the process has loaded Next, which keeps it from everything else for seconds on a busy machine.
  expect((await fetch(`${product.url}/demo`)).status).toBe(200);
  // With scroll bars, which take space in an ordinary window.
  browser = await chromium.launch({ ...launchOptions(), ignoreDefaultArgs: ['--hide-scrollbars'] });
});
afterAll(async () => {
  await browser?.close();
  await endProducts();
  await receiver.stop();
});

const read = async (path: string) => {
  const { status, body } = await product.call('GET', path, { key });
  expect(status).toBe(200);
  return body.data;
};

/** Runs `npm run demo:agent`. */
function runAgent(args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'tests/lab/demo-agent.ts', ...args]);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (piece) => {
      stdout += piece;
    });
    child.stderr.on('data', (piece) => {
      stderr += piece;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

it('the start prints where to try it', () => {
  expect(product.stdout()).toMatch(`  Try it: ${product.url}/demo\n`);
});

it('a verdict is told only to the tab that has the nonce of the session', async () => {
  const ask = async (body: string) => {
    const response = await fetch(`${product.url}/demo/verdict`, { method: 'POST', body });
    expect(response.headers.get('cache-control')).toBe('no-store');
    return { status: response.status, text: await response.text() };
  };
  expect(await ask('0'.repeat(32))).toEqual({ status: 200, text: '{"session":null}' });
  for (const body of ['', 'x', '0'.repeat(31), `${'0'.repeat(32)}\n`, 'A'.repeat(32), '0'.repeat(1_000)])
    expect((await ask(body)).status).toBe(400);
});

describe('an agent on the demo page', () => {
  it('is a bot within 2 s after its deed arrived, with reasons, and BotDetected follows the close, signed', async () => {
    const ended = await runAgent(['--url', `${product.url}/demo`]);
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0, stderr: '' });
    const seconds = Number(/Taken → verdict +([\d.]+) s/.exec(ended.stdout)?.[1]);
    expect(seconds, ended.stdout).toBeLessThanOrEqual(MAX_VERDICT_SECONDS);
    const sessionId = /Session {2,}(ses_\S+)/.exec(ended.stdout)![1]!;
    expect(ended.stdout).toMatch(/verdict +bot [01]\.\d/);

    const session = await read(`/v1/sessions/${sessionId}`);
    expect(session).toMatchObject({
      status: 'Scored',
      riskLevel: 'bot',
      pageUrl: `${product.url}/demo`,
      origin: product.url,
      detectionFlags: expect.arrayContaining(['webdriver', 'text-without-keys']),
    });
    const evidence = await read(`/v1/sessions/${sessionId}/evidence`);
    expect(evidence).toMatchObject({ sessionId, botScore: session.botScore, ruleSetVersion: expect.any(String) });
    for (const flag of session.detectionFlags) expect(ended.stdout).toContain(`+ ${flag} (`);

    const findDelivery = () => receiver.received.find(({ body }) => body.includes(sessionId));
    await waitUntil(() => findDelivery() !== undefined);
    const delivery = findDelivery();
    expectSigned(delivery!, secret);
    expect(delivery!.headers).toMatchObject({ 'x-webhook-event': 'BotDetected' });
    expect(JSON.parse(delivery!.body)).toMatchObject({ sessionId, botScore: session.botScore });
    expect(ended.stdout).toMatch(/BotDetected +fired, to 1 webhook/);
  });

  it('is refused addresses of other machines', async () => {
    const ended = await runAgent(['--url', 'https://learn.example.edu/demo']);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/^--url: only addresses of this machine\nusage: npm run demo:agent/);
  });

  it('opens the demo page of a server that is named without a path', async () => {
    const ended = await runAgent(['--url', 'http://127.0.0.1:1']);
    expect(ended).toMatchObject({
      code: 1,
      stderr: 'http://127.0.0.1:1/demo cannot be opened: is the server running?\n',
    });
  });
});

/** Measures where things are, in a browser without a pixel, whose window is as large as the person's. */
async function measureBoxes(size: { width: number; height: number }) {
  const page = await browser.newPage({ viewport: size });
  await page.route('**/pixel.js', (route) => route.abort());
  await page.goto(`${product.url}/demo`);
  const boxOf = async (locator: ReturnType<Page['locator']>) => (await locator.boundingBox()) as Box;
  const boxes = {
    answer: await boxOf(page.locator('label', { hasText: 'Carbon dioxide' })),
    why: await boxOf(page.getByLabel('Why do leaves look green?')),
    quiz: await boxOf(page.getByRole('button', { name: 'Hand in the quiz' })),
    essay: await boxOf(page.getByLabel(/what would change/)),
    end: await boxOf(page.getByRole('button', { name: 'End this session' })),
  };
  await page.close();
  return boxes;
}

describe('a person on the demo page', () => {
  const missing = listMissingPrograms();
  it.skipIf(missing.length > 0)(
    `is human in an ordinary browser window${missing.length > 0 ? ` (skipped: ${missing.join(', ')} not installed)` : ''}`,
    async () => {
      const screen = await openScreen();
      try {
        const viewport = await openPage(screen, `${product.url}/demo`);
        const boxes = await measureBoxes(viewport);
        const person = new Person(screen, viewport, 7);
        await person.click(boxes.answer);
        await person.click(boxes.why);
        await person.type('Green light.');
        await person.click(boxes.quiz);
        await person.click(boxes.essay);
        await person.type('Forests would be darker.');
        await person.click(boxes.end);
        const find = async () => (await read('/v1/sessions?pageSize=1'))[0];
        await waitUntil(async () => (await find()).status === 'Scored', 10_000);
        const session = await find();
        const evidence = await read(`/v1/sessions/${session.id}/evidence`);
        expect(session, JSON.stringify(evidence.findings)).toMatchObject({ riskLevel: 'human', detectionFlags: [] });
        // It was seen: rules about the pointer and about typing had enough to judge.
        const judged = evidence.findings.filter(({ state }: { state: string }) => state === 'notFound');
        const groups = judged.map(({ group }: { group: string }) => group);
        expect(groups).toEqual(expect.arrayContaining(['environment', 'pointer', 'typing']));
        await sleep(500);
        expect(receiver.received.filter(({ body }) => body.includes(session.id))).toEqual([]);
      } finally {
        await screen.close();
      }
    },
  );
});

/** Secrets that a visitor writes or that stand in the address, each in another way. */
const SECRETS = ['Xq7vRw2mKp', 'Jh4tZc9bLs', 'Nf8gYd3wQe', 'Uo5kTx6aMi'] as const;

describe('what a visitor writes on a page', () => {
  it('is neither in the database nor in the log', async () => {
    const [filled, typed, pasted, addressed] = SECRETS;
    const page = await browser.newPage();
    await page.goto(`${product.url}/demo?token=${addressed}#${addressed}`);
    await page.getByLabel('Why do leaves look green?').fill(filled);
    const essay = page.getByLabel(/what would change/);
    await essay.pressSequentially(typed);
    await essay.evaluate((element: HTMLTextAreaElement, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
      document.execCommand('insertText', false, text);
    }, pasted);
    // What the page itself tells is found, so the search sees what there is.
    await page.evaluate(() => {
      (window as unknown as { botPixel: unknown[] }).botPixel.push(['identify', { id: 'told-by-the-page' }]);
    });
    await page.getByRole('button', { name: 'End this session' }).click();
    await page.getByText('The session is closed.').waitFor();
    await page.close();

    const places = { ...(await readDatabase()), log: product.stderr() + product.stdout() };
    const find = (text: string) =>
      Object.entries(places).flatMap(([place, all]) => (all.toLowerCase().includes(text.toLowerCase()) ? [place] : []));
    expect(find('told-by-the-page')).toEqual(['rows']);
    expect(find(`${product.url}/demo`)).toEqual(['rows', 'traces', 'log']);
    for (const secret of SECRETS)
      for (const part of [secret.slice(0, 6), secret.slice(-6)]) expect([part, find(part)]).toEqual([part, []]);
  });
});

// Last, because what these pages send stays open.
describe('the demo page', () => {
  const SILENCE_MS = 7_000;
  const CASES: [name: string, prepare: (page: Page) => Promise<unknown>, text: string][] = [
    [
      'a browser that sends Global Privacy Control',
      (page) => page.addInitScript(() => Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })),
      'Your browser sends Global Privacy Control, so nothing is collected.',
    ],
    [
      'a blocked pixel',
      (page) => page.route('**/pixel.js', (route) => route.abort()),
      'Nothing has arrived. Does something block /pixel.js?',
    ],
    [
      'too many questions',
      (page) => page.route('**/demo/verdict', (route) => route.fulfill({ status: 429 })),
      'The server cannot be reached. Trying again …',
    ],
  ];
  let context: BrowserContext;
  beforeAll(async () => {
    context = await browser.newContext();
    await context.clock.install({ time: new Date() });
  });
  afterAll(() => context.close());
  it.each(CASES)('says what is wrong with %s', async (_name, prepare, text) => {
    const page = await context.newPage();
    await prepare(page);
    await page.goto(`${product.url}/demo`);
    await expect
      .poll(async () => {
        await context.clock.runFor(SILENCE_MS);
        return page.getByText(text).count();
      })
      .toBe(1);
    await page.close();
  });
});

/** Reads every row of every table as text, and what the traces hold. */
async function readDatabase(): Promise<{ rows: string; traces: string }> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema = 'public'`;
    const rows: string[] = [];
    for (const { name } of tables) {
      const found = await sql<{ row: string }[]>`select t::text as row from ${sql(name)} t`;
      rows.push(...found.map(({ row }) => row));
    }
    // The session was the last to be closed, and its trace is written after that.
    await waitUntil(async () => (await sql`select 1 from session_batches limit 1`).length === 0);
    const traces = await sql<{ body: Uint8Array }[]>`select body from session_traces`;
    return { rows: rows.join('\n'), traces: traces.map(({ body }) => JSON.stringify(unpackTrace(body))).join('\n') };
  } finally {
    await sql.end();
  }
}
