import { RULES } from '../../server/detection/rules/table';
import { RULE_SET_VERSION, scoreTrace } from '../../server/detection/score';
import { estimateRate, type Rate } from './interval';
import { type RecordedSubject, type Recording, readTrace, type SubjectFacts } from './recordings';
import { JUDGED_TASKS, type Task } from './subject';

// What the present rules say of the recordings.

/** The classes of a new integration (docs/specification.md: Risk thresholds). */
export const THRESHOLDS = { medium: 0.4, bot: 0.7 };

/** A recording, judged again. */
export interface Judged {
  task: Task;
  seed: number;
  botScore: number;
  /** The flags of the rules that found something, those of weight 0 included. */
  found: string[];
  botd: boolean | null;
}

export interface JudgedSubject extends SubjectFacts {
  sessions: Judged[];
}

/** What came of the sessions of a subject, a family or a task. */
export interface Outcome {
  bot: Rate;
  /** At least `medium`. */
  noticed: Rate;
  /** BotD on the same pages, as far as it said anything. */
  botd: Rate;
}

export interface SubjectResult extends SubjectFacts, Outcome {
  scores: { lowest: number; median: number; highest: number };
  /** In how many sessions each rule found something. */
  flags: Record<string, number>;
}

export interface Results {
  ruleSetVersion: string;
  /** Held-out sessions. Only these are reported. */
  sessions: { drivers: number; people: number; simulated: number };
  /** Misses first. */
  drivers: SubjectResult[];
  families: ({ family: string } & Outcome)[];
  tasks: ({ task: Task } & Outcome)[];
  /** False accusations first. */
  people: SubjectResult[];
  simulated: SubjectResult[];
  allDrivers: Outcome;
  allPeople: Outcome;
  rules: Record<string, { drivers: { found: number; of: number }; people: { found: number; of: number } }>;
}

const FIRST_HELD_OUT_SEED = 4;

/** Whether nobody may look at the seed when rules or weights are changed. */
export const isHeldOut = ({ seed }: { seed: number }): boolean => seed >= FIRST_HELD_OUT_SEED;

/** Judges the recordings of a subject by the present rules. */
export const judgeSubject = ({ recordings, ...facts }: RecordedSubject): JudgedSubject => ({
  ...facts,
  sessions: recordings.filter(({ task }) => JUDGED_TASKS.includes(task)).map(judgeRecording),
});

function judgeRecording(recording: Recording): Judged {
  const { task, seed, botd } = recording;
  const { botScore, findings } = scoreTrace(readTrace(recording));
  const found = findings.flatMap(({ state, flag }) => (state === 'found' ? [flag.split(':')[0]!] : []));
  return { task, seed, botScore, found, botd: botd?.bot ?? null };
}

const countOutcome = (sessions: readonly Judged[]): Outcome => {
  const rate = (of: readonly Judged[], isSo: (judged: Judged) => boolean) =>
    estimateRate(of.filter(isSo).length, of.length);
  const asked = sessions.filter(({ botd }) => botd !== null);
  return {
    bot: rate(sessions, ({ botScore }) => botScore >= THRESHOLDS.bot),
    noticed: rate(sessions, ({ botScore }) => botScore >= THRESHOLDS.medium),
    botd: rate(asked, ({ botd }) => botd === true),
  };
};

function countSubject({ sessions, ...facts }: JudgedSubject): SubjectResult {
  const scores = sessions.map(({ botScore }) => botScore).sort((a, b) => a - b);
  const at = (share: number) => scores[Math.floor(share * (scores.length - 1))]!;
  const counts = new Map<string, number>();
  for (const flag of sessions.flatMap(({ found }) => found)) counts.set(flag, (counts.get(flag) ?? 0) + 1);
  const flags = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return {
    ...facts,
    ...countOutcome(sessions),
    scores: { lowest: at(0), median: at(0.5), highest: at(1) },
    flags: Object.fromEntries(flags),
  };
}

const shareOf = ({ count, of }: Rate) => (of === 0 ? 0 : count / of);
const byName = <T extends { name: string }>(a: T, b: T) => (a.name < b.name ? -1 : 1);
/** Those with the fewest detections come first. */
const compareOutcomes = (a: Outcome, b: Outcome) =>
  shareOf(a.bot) - shareOf(b.bot) || shareOf(a.noticed) - shareOf(b.noticed);

/** Sums up the held-out sessions of all subjects. The same recordings and rules give the same results. */
export function summariseSubjects(all: readonly JudgedSubject[]): Results {
  const subjects = all
    .map((subject) => ({ ...subject, sessions: subject.sessions.filter(isHeldOut) }))
    .filter(({ sessions }) => sessions.length > 0)
    .sort(byName);
  const real = subjects.filter(({ input }) => input === 'real');
  const drivers = real.filter(({ kind }) => kind === 'driver');
  const people = real.filter(({ kind }) => kind === 'control');
  const simulated = subjects.filter(({ input }) => input === 'simulated');
  const join = (of: readonly JudgedSubject[]) => of.flatMap(({ sessions }) => sessions);
  const [driven, lived] = [join(drivers), join(people)];
  const families = [...new Set(drivers.map(({ family }) => family))].sort();
  const find = (sessions: Judged[], flag: string) => ({
    found: sessions.filter(({ found }) => found.includes(flag)).length,
    of: sessions.length,
  });
  return {
    ruleSetVersion: RULE_SET_VERSION,
    sessions: { drivers: driven.length, people: lived.length, simulated: join(simulated).length },
    drivers: drivers.map(countSubject).sort((a, b) => compareOutcomes(a, b) || byName(a, b)),
    families: families
      .map((family) => ({ family, ...countOutcome(join(drivers.filter((driver) => driver.family === family))) }))
      .sort(compareOutcomes),
    tasks: JUDGED_TASKS.map((task) => ({ task, ...countOutcome(driven.filter((judged) => judged.task === task)) })),
    people: people.map(countSubject).sort((a, b) => compareOutcomes(b, a) || byName(a, b)),
    simulated: simulated.map(countSubject).sort((a, b) => compareOutcomes(b, a) || byName(a, b)),
    allDrivers: countOutcome(driven),
    allPeople: countOutcome(lived),
    rules: Object.fromEntries(
      RULES.map(({ rule: { flag } }) => [flag, { drivers: find(driven, flag), people: find(lived, flag) }]),
    ),
  };
}
