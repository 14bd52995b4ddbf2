import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';
import type { DemoSession, DemoVerdict } from '../../contract/demo';
import type { Finding } from '../../contract/evidence';
import { launchOptions } from '../support/browser.mjs';

// `npm run demo:agent`: opens the demo page in a Chromium, does its tasks as agents do, and prints the verdict with its
// reasons as it forms and at the close. Exits with 0 if the session got a verdict and was closed.

const USAGE = 'usage: npm run demo:agent -- [--url http://127.0.0.1:3000/demo] [--headful]';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Between two looks at the verdict. */
const LOOK_MS = 200;
/** How long the agent waits for a verdict, and for the close. */
const LIMIT_MS = 30_000;
/** Between two deeds: an agent thinks. */
const THINK_MS = 700;

const ANSWER = 'Chlorophyll absorbs red and blue light and reflects green light.';
const ESSAY =
  'Black plants would absorb nearly all visible light. They would grow warmer and lose more water. Forests would look like shadows.';

class UsageError extends Error {}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { url: { type: 'string' }, headful: { type: 'boolean', default: false } },
    });
    const text = values.url ?? `http://127.0.0.1:${process.env.PORT || 3000}/demo`;
    if (!URL.canParse(text)) throw new UsageError(`--url: ${text} is no address`);
    const url = new URL(text);
    // The address that the start prints for the API.
    if (url.pathname === '/') url.pathname = '/demo';
    if (!LOOPBACK.test(url.hostname)) throw new UsageError('--url: only addresses of this machine');
    const { DISPLAY, WAYLAND_DISPLAY } = process.env;
    if (values.headful && process.platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY)
      throw new UsageError('--headful: there is no screen (DISPLAY is not set)');
    return { url: url.href, isHeadful: values.headful };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError((error as Error).message);
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Prints lines with the time since the page was opened. */
function createPrinter() {
  let startedMs = performance.now();
  return {
    restart() {
      startedMs = performance.now();
    },
    say(line: string) {
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      process.stdout.write(`${seconds.padStart(5)} s  ${line}\n`);
    },
  };
}
type Say = ReturnType<typeof createPrinter>['say'];

const describeFinding = ({ flag, group, measured, expected }: Finding) =>
  `${flag} (${group}): measured ${measured}, usual is ${expected}`;
const describeScore = ({ riskLevel, botScore }: DemoSession) => `${riskLevel} ${botScore?.toFixed(3)}`;

/** Follows a session's verdict like the page does, and prints what changes. */
class Watch {
  /** The time (of performance.now) of the first look that showed the class bot. */
  botAtMs: number | null = null;
  /** How long before that look the last batch had arrived that the score covers. */
  sinceReceiptMs: number | null = null;
  #last: DemoSession | null = null;
  readonly #shown = new Set<string>();
  readonly #say: Say;

  constructor(say: Say) {
    this.#say = say;
  }

  get session() {
    return this.#last;
  }

  /** Looks until the session is closed. */
  async follow(verdictUrl: string, nonce: string): Promise<void> {
    for (const until = performance.now() + 2 * LIMIT_MS; performance.now() < until; await sleep(LOOK_MS)) {
      const response = await fetch(verdictUrl, { method: 'POST', body: nonce });
      if (!response.ok) throw new Error(`${verdictUrl} answered ${response.status}`);
      const { session } = (await response.json()) as DemoVerdict;
      if (session !== null) this.#note(session);
      if (session?.closedAt != null) return;
    }
    throw new Error('the session did not close');
  }

  #note(session: DemoSession) {
    if (session.botScore !== null && session.scoredAt !== this.#last?.scoredAt) {
      this.#say(`verdict  ${describeScore(session)}`);
      if (session.riskLevel === 'bot') {
        this.botAtMs ??= performance.now();
        this.sinceReceiptMs ??= Date.now() - Date.parse(session.scoredAt!);
      }
    }
    for (const finding of session.findings) {
      if (finding.state !== 'found' || this.#shown.has(finding.flag)) continue;
      this.#shown.add(finding.flag);
      this.#say(`         + ${describeFinding(finding)}`);
    }
    this.#last = session;
  }
}

/** Does the tasks of the page. Returns when the first deed was done (of performance.now). */
async function doTasks(page: Page, say: Say): Promise<number> {
  const deeds: [name: string, act: () => Promise<void>][] = [
    ['chooses an answer', () => page.getByLabel('Carbon dioxide').check()],
    ['fills the text answer', () => page.getByLabel('Why do leaves look green?').fill(ANSWER)],
    ['hands in the quiz', () => page.getByRole('button', { name: 'Hand in the quiz' }).click()],
    ['writes the essay', () => page.getByLabel(/what would change/).fill(ESSAY)],
    ['hands in the essay', () => page.getByRole('button', { name: 'Hand in the essay' }).click()],
  ];
  let firstMs = 0;
  for (const [name, act] of deeds) {
    await act();
    firstMs ||= performance.now();
    say(`agent    ${name}`);
    await sleep(THINK_MS);
  }
  return firstMs;
}

async function waitFor(isSo: () => boolean, what: string): Promise<void> {
  for (const until = performance.now() + LIMIT_MS; !isSo(); await sleep(LOOK_MS / 2)) {
    if (performance.now() > until) throw new Error(`${what} within ${LIMIT_MS / 1_000} s`);
  }
}

async function main() {
  const { url, isHeadful } = readOptions();
  const { restart, say } = createPrinter();
  const options = launchOptions();
  // The rules for host names of the tests know 127.0.0.1 only; a person may ask for another loopback address.
  const args = options.args.filter((arg) => !arg.startsWith('--host-resolver-rules'));
  const browser = await chromium.launch({ ...options, args, headless: !isHeadful });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(LIMIT_MS);
    restart();
    const asking = page.waitForRequest((request) => request.url().endsWith('/demo/verdict'));
    asking.catch(() => {});
    const response = await page.goto(url).catch(() => null);
    if (!response) throw new Error(`${url} cannot be opened: is the server running?`);
    if (!response.ok()) throw new Error(`${url} answered ${response.status()}: is the demo on?`);
    say(`agent    opened ${url} with Chromium ${browser.version()}, ${isHeadful ? 'headful' : 'headless'}`);
    const watch = new Watch(say);
    const following = asking.then((request) => watch.follow(request.url(), request.postData() ?? ''));
    following.catch(() => {});
    const deedMs = await doTasks(page, say);
    await Promise.race([following, waitFor(() => watch.session?.botScore != null, 'no verdict came')]);
    const endMs = performance.now();
    await page.getByRole('button', { name: 'End this session' }).click();
    say('agent    ends the session');
    await following;
    report(watch, deedMs, endMs);
  } finally {
    await browser.close();
  }
}

function report(watch: Watch, deedMs: number, endMs: number) {
  const session = watch.session!;
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const { batches, events, bytes } = session.kept;
  const { botDetected } = session;
  const fired = botDetected ? `fired, to ${botDetected.deliveries} webhook(s)` : 'did not fire';
  process.stdout.write(`
  Session          ${session.id}
  Final verdict    ${describeScore(session)}   (rules ${session.ruleSetVersion})
  Deed → verdict   ${watch.botAtMs === null ? 'never bot' : seconds(Math.max(0, watch.botAtMs - deedMs))}
  Taken → verdict  ${watch.sinceReceiptMs === null ? 'never bot' : seconds(Math.max(0, watch.sinceReceiptMs))}
  End → closed     ${seconds(performance.now() - endMs)}
  BotDetected      ${fired}
  Kept             ${batches} batches, ${events} events, ${bytes} bytes
  Not found        ${listFlags(session, 'notFound')}
  Not measured     ${listFlags(session, 'notMeasured')}
`);
}

const listFlags = ({ findings }: DemoSession, state: Finding['state']) =>
  findings.flatMap((finding) => (finding.state === state ? [finding.flag] : [])).join(', ') || 'none';

main().catch((error: unknown) => {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${error instanceof Error ? error.message : error}\n${isUsage ? `${USAGE}\n` : ''}`);
  process.exitCode = isUsage ? 2 : 1;
});
