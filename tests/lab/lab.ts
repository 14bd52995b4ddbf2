import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { writeDemoRecordings } from './demo-recordings';
import { fitSubjects } from './fit';
import { installPackages } from './install';
import { judgeSubject, summariseSubjects } from './judge';
import { readAllRecordings } from './recordings';
import { runVisits } from './run';
import { TASKS, type Task } from './subject';
import { readResults, storeResults, writeSection } from './tables';

// `npm run lab`: real browsers on the laboratory's pages, driven by programs and by people's ways of input. See
// docs/detection.md.

const USAGE = `usage: npm run lab -- [run|install|judge|fit|demo] [options]
  run       records visits (default), then judges
            --only NAME,…   --tasks TASK,…   --seeds N,…   --again (also what is recorded)
  install   installs what the drivers need
  judge     judges the recordings by the present rules, writes tests/lab/results.json and the tables of docs/detection.md
  fit       fits weights, leaving out a family at a time, and prints them
  demo      copies the recordings that the demo shows into the product`;

const say = (line: string) => void process.stdout.write(`${line}\n`);

function readCommand() {
  const options = { only: { type: 'string' }, tasks: { type: 'string' }, seeds: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { ...options, again: { type: 'boolean', default: false } },
  });
  const tasks = values.tasks?.split(',');
  const unknown = tasks?.find((task) => !TASKS.includes(task as Task));
  if (unknown || positionals.length > 1)
    throw new Error(unknown ? `--tasks: no task is named ${unknown}` : 'too many commands');
  const seeds = values.seeds?.split(',').map(Number);
  if (seeds?.some((seed) => !Number.isInteger(seed) || seed < 1)) throw new Error('--seeds: whole numbers from 1');
  const only = values.only?.split(',');
  return { name: positionals[0] ?? 'run', only, tasks: tasks as Task[] | undefined, seeds, isAgain: values.again };
}

const COMMANDS: Record<string, (command: ReturnType<typeof readCommand>) => Promise<number> | number> = {
  install() {
    installPackages(say);
    return 0;
  },
  async run(command) {
    execFileSync(process.execPath, ['server/start.mjs', 'build'], { stdio: ['ignore', 2, 2] });
    const failures = await runVisits({ ...command, say });
    judge();
    for (const failure of failures) say(`FAILED ${failure}`);
    return failures.length > 0 ? 1 : 0;
  },
  judge() {
    judge();
    return 0;
  },
  fit() {
    const subjects = readAllRecordings().map(judgeSubject);
    store({ ...summariseSubjects(subjects), fit: fitSubjects(subjects) });
    return 0;
  },
  demo() {
    say(`${writeDemoRecordings().length} recordings`);
    return 0;
  },
};

/** Judges all recordings. The last fit stays. */
const judge = () =>
  store({ ...summariseSubjects(readAllRecordings().map(judgeSubject)), fit: readResults()?.fit ?? null });

function store(results: Parameters<typeof storeResults>[0]): void {
  storeResults(results);
  say(writeSection(results));
}

let command: ReturnType<typeof readCommand>;
try {
  command = readCommand();
  if (!COMMANDS[command.name]) throw new Error(`no command is named ${command.name}`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
  process.exit(2);
}
process.exitCode = await COMMANDS[command.name]!(command);
