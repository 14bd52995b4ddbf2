import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { chromium, type Page } from 'playwright-core';
import { launchOptions } from '../support/browser.mjs';
import { type BenchOptions, describeDistribution, type Figure, findMedian, type Report } from './report';

const STARTS = 40;
const ROUNDS = 20;
/** Pairs of runs in a round. The events of a round fit into one batch. */
const PAIRS = 10;
const WARM_UP_ROUNDS = 3;
const REAL_MOVES = 240;
const START_MS = 6;
/** Actions, how many are in a run, and the most microseconds that each may cost. */
const ACTIONS = [
  { name: 'move', title: 'pointer move', count: 30, atMost: 5 },
  { name: 'key', title: 'key down and up', count: 10, atMost: 25 },
  { name: 'input', title: 'input of a key', count: 10 },
  { name: 'press', title: 'press, release and click', count: 10, atMost: 25 },
];

interface Start {
  startMs: number;
  processorMs: number;
  batchMs?: number;
  names: string[];
}
interface Round {
  compared: { pixel: number; floor: number }[];
  batchMs: number;
}

/** Measures what the released pixel costs the main thread of a page, next to listeners that do nothing. */
export async function measurePixel({ say }: BenchOptions): Promise<Report> {
  const { file } = JSON.parse(readFileSync('pixel/released/current.json', 'utf8')) as { file: string };
  const script = readFileSync(`pixel/released/${file}`, 'utf8');
  const server = await serve(readFileSync('tests/bench/pixel-page.html'));
  const browser = await chromium.launch(launchOptions());
  try {
    const page = await browser.newPage();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/courses/42/quizzes/7/take`;
    const readProcessorMs = await watchProcessor(page);
    const open = async (text: string): Promise<Start> => {
      await page.goto(url);
      await page.evaluate(`bench.text = ${JSON.stringify(text)}`);
      const from = await readProcessorMs();
      const startMs = await page.evaluate<number>('bench.start()');
      const processorMs = (await readProcessorMs()) - from;
      const rest = await page.evaluate<Omit<Start, 'startMs' | 'processorMs'>>('bench.goOn()');
      return { startMs, processorMs, ...rest };
    };
    say(`${STARTS} starts in new documents`);
    const { names } = await open(script);
    const floorScript = `for (const name of ${JSON.stringify(names)})
      addEventListener(name, () => {}, { capture: true, passive: true });`;
    const starts: Start[] = [];
    const floors: Start[] = [];
    for (let index = 0; index < STARTS; index++) {
      // The comment is different, so that the browser has not compiled the text before.
      starts.push(await open(`${script}//${index}`));
      floors.push(await open(`${floorScript}//${index}`));
    }
    await open(script);
    say(`${REAL_MOVES} moves of a mouse`);
    const real = await moveMouse(page);
    say(`${ROUNDS} rounds of moves, keys and presses`);
    const rounds = new Map(ACTIONS.map(({ name }) => [name, [] as Round[]]));
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const { name, count } of ACTIONS) {
        const measured = await page.evaluate<Round>(`bench.compare('${name}', ${PAIRS}, ${count})`);
        if (round >= 0) rounds.get(name)!.push(measured);
      }
    }
    const startMs = starts.map((start) => start.startMs);
    const processorMs = starts.map((start, index) => start.processorMs - floors[index]!.processorMs);
    const floorMs = findMedian(floors.map((start) => start.startMs));
    const keyBatches = rounds.get('key')!.map(({ batchMs }) => batchMs);
    const figures: Figure[] = [
      ...showTimes({ name: 'start', unit: 'ms', floor: floorMs, goal: { atMost: START_MS } }, startMs),
      ...showTimes({ name: 'start, processor time alone', unit: 'ms', goal: { atMost: START_MS } }, processorMs),
      ...ACTIONS.flatMap(({ name, title, atMost }) => {
        const pairs = rounds.get(name)!.flatMap(({ compared }) => compared);
        const floor = findMedian(pairs.map((pair) => pair.floor));
        const goal = atMost === undefined ? {} : { goal: { atMost } };
        return showTimes(
          { name: title, unit: 'µs', floor, ...goal },
          pairs.map((pair) => pair.pixel - pair.floor),
        );
      }),
      { name: 'pointer move, one a frame, mean', unit: 'µs', value: real.us },
      ...showTimes(
        { name: 'first batch, with the environment', unit: 'ms' },
        starts.map((start) => start.batchMs!),
      ),
      ...showTimes({ name: 'batch of 200 key events', unit: 'ms' }, keyBatches),
    ];
    const notes = [
      `Chromium ${browser.version()}, headless; load of the machine ${loadavg()[0]!.toFixed(1)}; a page of about 1,300 elements.`,
      'Processor time: of the main thread, less that of the floor. It leaves out waiting, also for storage and a busy machine.',
      'Floor: the same listeners, doing nothing. Moves, keys, input and presses show what the pixel adds to it, in pairs of short runs.',
    ];
    return { figures, notes, details: { starts, rounds: Object.fromEntries(rounds) } };
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

/** Serves the page, and takes its batches. The headers give the page a clock of 5 µs. */
async function serve(html: Buffer): Promise<Server> {
  const isolated = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...isolated }).end(html);
      return;
    }
    request.resume().once('end', () => response.end('{"token":"token-1"}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Answers a function that reads the processor time of the page's main thread. */
async function watchProcessor(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'ThreadTime')!.value * 1_000;
  };
}

/** Moves a real mouse. The page keeps the events for later, because scripts cannot make events that are trusted. */
async function moveMouse(page: Page): Promise<{ count: number; us: number }> {
  for (let index = 0; index < REAL_MOVES; index++) {
    const turn = (index / REAL_MOVES) * 6 * Math.PI;
    await page.mouse.move(500 + 300 * Math.sin(turn), 300 + 200 * Math.cos(turn * 0.7));
  }
  return page.evaluate('bench.readRealMoves()');
}

/** Shows the median, which has the goal, and the 95th percentile. */
function showTimes(figure: Omit<Figure, 'value'>, values: number[]): Figure[] {
  const { name, unit } = figure;
  return [
    { ...figure, value: findMedian(values) },
    { name: `${name}, p95`, unit, value: describeDistribution(values).p95 },
  ];
}
