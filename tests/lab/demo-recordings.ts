import { writeFileSync } from 'node:fs';
import { type RecordedSubject, readRecordings } from './recordings';
import type { Task } from './subject';

/** A visit that the demo shows, as it ships with the product. */
export interface DemoRecording {
  subject: string;
  task: Task;
  seed: number;
  isProgram: boolean;
  userAgent: string;
  trace: string;
}

const PATH = 'server/demo/recordings.json';

/** What the demo shows: ways in which people work, programs that are found, and some that are not. */
const SHOWN: [subject: string, task: Task, seed: number][] = [
  ['mouse-chromium', 'quiz', 2],
  ['mouse-firefox', 'quiz', 2],
  ['keyboard-only-firefox', 'quiz', 2],
  ['touch', 'quiz', 2],
  ['one-finger-typist', 'quiz', 2],
  ['zoomed-chromium', 'quiz', 2],
  ['developer-tools-firefox', 'essay', 2],
  ['switch-scanning', 'essay', 2],
  ['dictation-keys', 'essay', 2],
  ['playwright-fill', 'essay', 2],
  ['playwright-mcp-fill', 'quiz', 2],
  ['puppeteer-stealth', 'essay', 2],
  ['puppeteer-firefox', 'quiz', 2],
  ['selenium', 'quiz', 2],
  ['nodriver', 'quiz', 2],
  ['ghost-cursor', 'quiz', 2],
  ['page-script', 'quiz', 2],
  ['pydoll', 'quiz', 2],
  ['pydoll', 'essay', 2],
  ['mouse-chromium', 'composition', 2],
  ['developer-tools-firefox', 'composition', 2],
  ['input-method-chromium', 'composition', 2],
  ['paste', 'composition', 2],
  ['playwright-fill', 'composition', 2],
  ['puppeteer', 'composition', 2],
  ['page-script', 'composition', 2],
];

const takeRecording = ({ kind, recordings }: RecordedSubject, task: Task, seed: number): DemoRecording | null => {
  const found = recordings.find((recording) => recording.task === task && recording.seed === seed);
  if (!found) return null;
  const { subject, userAgent, trace } = found;
  return { subject, task, seed, isProgram: kind === 'driver', userAgent, trace };
};

/** Finds a recording for the demo. Null if it is not recorded. */
export function findDemoRecording(subject: string, task: Task, seed: number): DemoRecording | null {
  const recorded = readRecordings(subject);
  return recorded && takeRecording(recorded, task, seed);
}

/** Copies the recordings that the demo shows into the product. */
export function writeDemoRecordings(): DemoRecording[] {
  const chosen = SHOWN.map(([subject, task, seed]) => {
    const recording = findDemoRecording(subject, task, seed);
    if (!recording) throw new Error(`not recorded: ${subject} ${task} ${seed}`);
    return recording;
  });
  writeFileSync(PATH, `${JSON.stringify(chosen, null, 2)}\n`);
  return chosen;
}
