import { EVENT_FLAGS, EventCode } from '../../contract/beacon';
import { createDocuments } from '../../server/detection/documents';
import { createPresenceReader } from '../../server/detection/presence';
import { createScorer, scoreTrace } from '../../server/detection/score';
import type { Trace, TraceBatch } from '../../server/detection/trace';
import { scoreWriting } from '../../server/detection/writing-score';
import { CHROME, seedRandom, TraceBuilder } from '../support/trace';
import { type BenchOptions, compareToFloor, type Figure, findMedian, findPercentile, type Report } from './report';

const EVENTS = 5_000;
const ONE_SHOT_MS = 2;
const WARM_UPS = 100;
const ROUNDS = 300;
const MINUTES = [1, 10, 60, 120];
/** How many further batches are measured of a running session. */
const MEASURED_BATCHES = 60;
const RUNS = 3;
/** A judgement late in a session may cost this much more than one after a minute. */
const GROWTH = 2;
/** What is written may make the judgements of a session cost so much more. */
const WRITING_GROWTH = 1.1;
const PAGE_MS = 180_000;
/** A session may have 2,000 batches, so one of two hours has a batch every four seconds. */
const BATCH_MS = 4_000;

/** Measures what it costs to score a session: as a whole, and after each batch while it goes on. */
export async function measureScore({ say }: BenchOptions): Promise<Report> {
  say(`${ROUNDS} times ${EVENTS} events`);
  const whole = measureWhole();
  const running = MINUTES.map((minutes) => {
    say(`a session of ${minutes} minutes`);
    return { minutes, ...measureRunning(minutes) };
  });
  const { judgedMs, writingMs } = measureWritten();
  const secondOf = (us: number) => (us * 1_000) / BATCH_MS;
  const figures: Figure[] = [
    {
      name: `a session of ${EVENTS} events, median`,
      ...{
        value: findMedian(whole.scores),
        unit: 'ms',
        floor: findMedian(whole.floors),
        goal: { atMost: ONE_SHOT_MS },
      },
    },
    { name: `a session of ${EVENTS} events, p95`, value: findP95(whole.scores), unit: 'ms' },
    { name: `what is written in a session of ${EVENTS} events, once at its close`, value: writingMs, unit: 'ms' },
    ...compareToFloor(
      {
        name: `all judgements of a session of ${EVENTS} events, with what is written`,
        ...{ value: judgedMs + writingMs, unit: 'ms', floor: judgedMs },
      },
      { atMost: WRITING_GROWTH },
    ),
    ...running.map(({ minutes, batchUs, floorUs }) => ({
      name: `one more batch at ${minutes} min`,
      ...{ value: batchUs, unit: 'µs', floor: floorUs },
    })),
    ...running.map(({ minutes, batchUs }) => ({
      name: `a running session, each second, at ${minutes} min`,
      ...{ value: secondOf(batchUs), unit: 'µs' },
    })),
  ];
  const [first, last] = [running[0]!, running.at(-1)!];
  const growth = {
    name: `one more batch at ${last.minutes} min, to one at ${first.minutes} min`,
    ...{ value: last.batchUs, unit: 'µs', floor: first.batchUs },
  };
  return {
    figures: [...figures, compareToFloor(growth, { atMost: GROWTH })[1]!],
    details: { running },
    notes: [
      'In this process, on batches in memory. Somebody types, moves and presses; a page every three minutes.',
      `Running: score and presence after each of ${MEASURED_BATCHES} further batches, one every ${BATCH_MS / 1_000} s; median.`,
      'Floor: JSON.parse of the same batches. With what is written: the same without. Of the last figure: a batch after the first minute.',
    ],
  };
}

/** The trace as a whole. Nothing is remembered: each round has other objects. */
function measureWhole(): { scores: number[]; floors: number[] } {
  const text = JSON.stringify(imitateSession({ events: EVENTS }));
  const [scores, floors]: [number[], number[]] = [[], []];
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    const from = performance.now();
    const trace: Trace = JSON.parse(text);
    const parsed = performance.now();
    scoreTrace(trace);
    const scored = performance.now();
    if (round < 0) continue;
    floors.push(parsed - from);
    scores.push(scored - parsed);
  }
  return { scores, floors };
}

/** A session in which a text is written: its judgements after each batch, and the score of the text at the close. */
function measureWritten(): { judgedMs: number; writingMs: number } {
  const { userAgent, batches } = imitateSession({ events: EVENTS, isWritten: true });
  const text = JSON.stringify(batches);
  const [judged, written]: [number[], number[]] = [[], []];
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    const parsed: TraceBatch[] = JSON.parse(text);
    const documents = createDocuments();
    const [score, readPresence] = [createScorer({ userAgent }, documents), createPresenceReader(documents)];
    const from = performance.now();
    for (const batch of parsed) {
      documents.add([batch]);
      readPresence();
      score();
    }
    const closing = performance.now();
    scoreWriting(parsed);
    if (round < 0) continue;
    judged.push(closing - from);
    written.push(performance.now() - closing);
  }
  return { judgedMs: findMedian(judged), writingMs: findMedian(written) };
}

/** A session after some minutes, in µs for each further batch. */
function measureRunning(minutes: number): { batchUs: number; floorUs: number } {
  const count = (minutes * 60_000) / BATCH_MS;
  const { userAgent, batches } = imitateSession({ batches: count + MEASURED_BATCHES });
  const [costs, floors]: [number[], number[]] = [[], []];
  for (let run = 0; run < RUNS; run++) {
    const documents = createDocuments();
    const [score, readPresence] = [createScorer({ userAgent }, documents), createPresenceReader(documents)];
    documents.add(batches.slice(0, count));
    for (let warmUp = 0; warmUp < WARM_UPS; warmUp++) [score(), readPresence()];
    for (const batch of batches.slice(count)) {
      const text = JSON.stringify(batch);
      const from = performance.now();
      const parsed: TraceBatch = JSON.parse(text);
      const begun = performance.now();
      documents.add([parsed]);
      readPresence();
      score();
      costs.push((performance.now() - begun) * 1_000);
      floors.push((begun - from) * 1_000);
    }
  }
  return { batchUs: findMedian(costs), floorUs: findMedian(floors) };
}

const findP95 = (values: number[]) =>
  findPercentile(
    values.toSorted((a, b) => a - b),
    95,
  );

interface Imitation {
  events?: number;
  batches?: number;
  /** What is typed belongs to a text. */
  isWritten?: boolean;
}

/** Somebody at work, until there are so many events or batches. */
function imitateSession({ events = Infinity, batches = Infinity, isWritten = false }: Imitation): Trace {
  const random = seedRandom(5);
  const sent: TraceBatch[] = [];
  let count = 0;
  for (let page = 0; count < events && sent.length < batches; page++) {
    const document = Math.floor(random() * 2 ** 32).toString(16);
    const builder = new TraceBuilder({
      document: document.padStart(16, 'a'),
      originMs: 1_800_000_000_000 + page * PAGE_MS,
      url: `https://lms.example.edu/pages/${page}`,
    });
    for (let n = 1; n <= PAGE_MS / BATCH_MS && count < events && sent.length < batches; n++) {
      count += act(builder, random, isWritten);
      builder.timeMs = n * BATCH_MS;
      builder.send(isWritten ? { w: ['essay'] } : {});
      sent.push(builder.batches.at(-1)!);
    }
  }
  return { userAgent: CHROME, batches: sent };
}

/** What somebody does in one batch. Returns how many events it has. */
function act(builder: TraceBuilder, random: () => number, isWritten: boolean): number {
  for (let n = 0; n < 10; n++) builder.wait(60).move(300 + 300 * random(), 200 + 200 * random());
  for (let n = 0; n < 8; n++) {
    const write = () => {
      if (isWritten && n === 0) builder.add(EventCode.Writing, { document: 0, fromEnd: 0 });
      builder.add(EventCode.Input, { flags: EVENT_FLAGS.trusted | EVENT_FLAGS.multiline });
    };
    const flags = EVENT_FLAGS.trusted | EVENT_FLAGS.hasCode;
    builder.wait(60 + 300 * random() ** 2).key('letter', 60 + 60 * random(), flags, write);
  }
  builder.wait(100).press(300 + Math.round(400 * random()), 300, 60 + 60 * random());
  return 10 + 3 * 8 + 4;
}
