import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { unpackTrace } from '../../server/collector/packing';
import type { Trace } from '../../server/detection/trace';
import type { BotdVerdict } from './pages/serve';
import type { Subject, Task } from './subject';

/** One visit: what the product kept of it and said of it. It can be judged again without a browser. */
export interface Recording {
  subject: string;
  task: Task;
  seed: number;
  userAgent: string;
  /** The session's batches as the product stores them (server/collector/packing.ts), in base64. */
  trace: string;
  botScore: number;
  detectionFlags: string[];
  ruleSetVersion: string;
  /** What BotD said on the same page. Null if it was not asked, or the page was left too soon. */
  botd: BotdVerdict | null;
}

/** A file of recordings also says what its subject is, so that it can be judged where the subject cannot run. */
export type SubjectFacts = Pick<Subject, 'name' | 'family' | 'kind' | 'input' | 'isHeadful'>;
export interface RecordedSubject extends SubjectFacts {
  recordings: Recording[];
}

const DIRECTORY = fileURLToPath(new URL('recordings/', import.meta.url));
const SUFFIX = '.jsonl.gz';
const pathOf = (name: string) => join(DIRECTORY, name + SUFFIX);

/** Reads the recordings of a subject. Null if there are none. */
export function readRecordings(name: string): RecordedSubject | null {
  if (!existsSync(pathOf(name))) return null;
  const [facts, ...recordings] = gunzipSync(readFileSync(pathOf(name)))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { ...facts, recordings };
}

/** Reads the recordings of all subjects, sorted by name. */
export const readAllRecordings = (): RecordedSubject[] =>
  existsSync(DIRECTORY)
    ? readdirSync(DIRECTORY)
        .filter((file) => file.endsWith(SUFFIX))
        .sort()
        .map((file) => readRecordings(file.slice(0, -SUFFIX.length))!)
    : [];

/** Adds a recording to those of its subject. It replaces one of the same task and seed. */
export function addRecording({ name, family, kind, input, isHeadful }: SubjectFacts, recording: Recording): void {
  const others = readRecordings(name)?.recordings ?? [];
  const kept = others.filter(({ task, seed }) => task !== recording.task || seed !== recording.seed);
  const recordings = [...kept, recording].sort((a, b) => a.seed - b.seed || (a.task < b.task ? -1 : 1));
  const lines = [{ name, family, kind, input, isHeadful }, ...recordings].map((line) => JSON.stringify(line));
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(pathOf(name), gzipSync(`${lines.join('\n')}\n`, { level: 9 }));
}

/** Reads what the rules judge. */
export const readTrace = ({ userAgent, trace, detectionFlags }: Recording): Trace => ({
  userAgent,
  batches: unpackTrace(Buffer.from(trace, 'base64')),
  // That the same input was seen before is nothing that the trace itself says.
  ...(detectionFlags.includes('replayed-trace') ? { isReplay: true } : {}),
});
