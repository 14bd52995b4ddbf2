import { setTimeout as sleep } from 'node:timers/promises';
import { addRecording, readRecordings } from './recordings';
import { type ActedVisit, actOut, openStage, readRecording, type Stage } from './stage';
import { JUDGED_TASKS, type Subject, type Task } from './subject';
import { loadSubjects } from './subjects';

/** Held-out seeds come first: see `isHeldOut`. */
const SEEDS = { driver: [4, 2, 5], control: [4, 2, 5, 6, 7, 8, 9, 10] };
const MAX_TRIES = 3;
const LOOK_MS = 500;

export interface RunOptions {
  only?: readonly string[];
  tasks?: readonly Task[];
  seeds?: readonly number[];
  /** Records again what is recorded. */
  isAgain: boolean;
  say(line: string): void;
}

interface Planned {
  subject: Subject;
  task: Task;
  seed: number;
}

/**
 * Records what is not recorded yet: one visit at a time, because times are what is measured. Sessions close while the
 * next visits run. Answers what failed.
 */
export async function runVisits({ only, tasks = JUDGED_TASKS, seeds, isAgain, say }: RunOptions): Promise<string[]> {
  const chosen = (await loadSubjects()).filter(({ name }) => !only || only.includes(name));
  const unknown = only?.filter((name) => !chosen.some((subject) => subject.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`no subject is named ${unknown.join(', ')}`);
  const able = chosen.filter((subject) => {
    const missing = subject.findMissing();
    if (missing) say(`skipped ${subject.name}: this machine lacks ${missing}`);
    return !missing;
  });
  const planned = planVisits(able, tasks, seeds).filter((visit) => isAgain || !isRecorded(visit));
  say(`${planned.length} visits of ${able.length} subjects`);
  if (planned.length === 0) return [];
  const stage = await openStage();
  const failures: string[] = [];
  let isInterrupted = false;
  // The product and its Postgres must end in order. A second signal ends everything at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      isInterrupted = true;
      say('stops after this visit');
    });
  try {
    const closing: ActedVisit[] = [];
    for (const [index, { subject, task, seed }] of planned.entries()) {
      if (isInterrupted) break;
      const name = `${subject.name} ${task} ${seed}`;
      say(`${index + 1}/${planned.length} ${name}`);
      const visit = await tryVisit(stage, { subject, task, seed }, say);
      if (visit) closing.push(visit);
      else failures.push(name);
      failures.push(...(await keepClosed(stage, closing, say)));
    }
    for (; closing.length > 0; await sleep(LOOK_MS)) failures.push(...(await keepClosed(stage, closing, say)));
  } finally {
    await stage.close();
  }
  return failures;
}

/** All subjects come before the next task and seed, so that a run that is interrupted has something of each. */
const planVisits = (subjects: readonly Subject[], tasks: readonly Task[], seeds?: readonly number[]): Planned[] =>
  [...new Set(seeds ?? Object.values(SEEDS).flat())]
    .flatMap((seed) => tasks.map((task) => ({ task, seed })))
    .flatMap(({ task, seed }) =>
      subjects.filter(({ kind }) => seeds || SEEDS[kind].includes(seed)).map((subject) => ({ subject, task, seed })),
    );

const isRecorded = ({ subject, task, seed }: Planned) =>
  readRecordings(subject.name)?.recordings.some((of) => of.task === task && of.seed === seed) ?? false;

async function tryVisit(stage: Stage, { subject, task, seed }: Planned, say: RunOptions['say']) {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    try {
      return await actOut(stage, subject, task, seed);
    } catch (error) {
      say(`  failed: ${(error as Error).message.slice(0, 500)}`);
    }
  }
  return null;
}

/** Keeps the recordings of the sessions that have closed, and takes them from the list. */
async function keepClosed(stage: Stage, closing: ActedVisit[], say: RunOptions['say']): Promise<string[]> {
  const failures: string[] = [];
  for (const visit of [...closing]) {
    const name = `${visit.subject.name} ${visit.task} ${visit.seed}`;
    try {
      const recording = await readRecording(stage, visit);
      if (!recording) continue;
      addRecording(visit.subject, recording);
      say(`  ${name}: ${recording.botScore} ${recording.detectionFlags.join(' ')}`);
    } catch (error) {
      say(`  ${name}: ${(error as Error).message}`);
      failures.push(name);
    }
    closing.splice(closing.indexOf(visit), 1);
  }
  return failures;
}
