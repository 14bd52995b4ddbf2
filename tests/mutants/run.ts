import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest, type Reporter, type TestModule, type Vitest } from 'vitest/node';
import { chooseMutants, listMutants, type Mutant, writeSwitches } from './mutants';

// Puts small faults into a copy of the sources, one at a time, and reports those that no test notices. All faults are
// written at once, each behind a switch: one run of the tests without any tells which test files reach which fault.

const SOURCES = ['server/rest', 'server/webhooks', 'server/domain', 'server/pipeline'];
/** Tests that run the sources inside their own process. A server in another process has no switches. */
const ALL_TESTS = ['tests/unit', 'tests/domain', 'tests/rest', 'tests/delivery'];
const OTHER_PROCESS = /support\/(product|next-server)'|start\.mjs/;
const RUN_LIMIT_MS = 20 * 60_000;
const MUTANT_LIMIT_MS = 5 * 60_000;
/** The quickest test files first: most faults end there. */
const FIRST_FILES = 3;

type Outcome = Mutant & { outcome: 'noticed' | 'survived' | 'not reached'; notice: string | null };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});

const outPath = values.out && resolve(values.out);
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Copies the project into a directory of the system's temporary ones; what was built and installed is linked. */
function copyProject(): string {
  const directory = mkdtempSync(join(tmpdir(), 'mutants-'));
  const files = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .stdout.trim()
    .split('\n');
  for (const file of files) {
    if (!existsSync(file)) continue;
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    cpSync(file, join(directory, file));
  }
  for (const name of ['node_modules', '.next', 'dist', 'next-env.d.ts']) {
    if (existsSync(name)) symlinkSync(join(process.cwd(), name), join(directory, name));
  }
  return directory;
}

/**
 * Vitest in this process. It keeps its Postgres and what it has compiled from run to run; each run has new workers,
 * which take their environment from this process.
 */
class Runner {
  #vitest: Vitest | null = null;
  #ended: TestModule[] = [];

  /** Runs test files until one fails, or to the end without `bail`. Answers the modules that ended; null if they hang. */
  async run(files: string[], { bail, limitMs }: { bail: number; limitMs: number }): Promise<TestModule[] | null> {
    const reporter: Reporter = { onTestModuleEnd: (module) => void this.#ended.push(module) };
    const options = { config: 'tests/mutants/vitest.config.ts', watch: false, reporters: [reporter] };
    this.#vitest ??= await createVitest('test', options);
    // What a module does when it is loaded counts for every file that loads it, not only for the first one of a worker.
    for (const { config } of [this.#vitest, ...this.#vitest.projects]) Object.assign(config, { bail, isolate: true });
    await this.#vitest.globTestSpecifications(files);
    this.#ended = [];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((answer) => {
      timer = setTimeout(answer, limitMs, null);
    });
    const run = this.#vitest.runTestFiles(files.map((file) => resolve(file)));
    const result = await Promise.race([run, late]).finally(() => clearTimeout(timer));
    if (result === null) await this.close();
    return result && this.#ended;
  }

  async close(): Promise<void> {
    await this.#vitest?.close();
    this.#vitest = null;
  }
}

/** Lists the test files that run the sources in their own process. */
function listTests(): string[] {
  const paths = positionals.length > 0 ? positionals : ALL_TESTS;
  const files = paths.flatMap((path) =>
    path.endsWith('.ts')
      ? [path]
      : readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name)),
  );
  return files.filter((path) => path.endsWith('.test.ts') && !OTHER_PROCESS.test(readFileSync(path, 'utf8')));
}

/** The test files that reach each mutant, the quickest first. */
async function findTests(runner: Runner): Promise<Map<number, string[]>> {
  const reachedPath = resolve('reached.tsv');
  writeFileSync(reachedPath, '');
  process.env.MUTANTS_REACHED = reachedPath;
  const modules = await runner.run(listTests(), { bail: 0, limitMs: RUN_LIMIT_MS });
  delete process.env.MUTANTS_REACHED;
  if (modules === null) throw new Error('the tests hang without any fault');
  const failed = modules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId);
  if (failed.length > 0) say(`left out, failed without any fault: ${failed.join(', ')}`);
  const durations = new Map(modules.map((module) => [module.moduleId, module.diagnostic().duration]));
  const found = new Map<number, string[]>();
  for (const line of readFileSync(reachedPath, 'utf8').trim().split('\n')) {
    const [id, path] = line.split('\t');
    if (!path || failed.includes(path)) continue;
    const known = found.get(Number(id)) ?? [];
    if (!known.includes(path)) found.set(Number(id), [...known, path]);
  }
  for (const files of found.values()) files.sort((a, b) => (durations.get(a) ?? 0) - (durations.get(b) ?? 0));
  return found;
}

/** What noticed a mutant: the first failed test and its message. Null if nothing did. */
async function findNotice(runner: Runner, { id }: Mutant, files: string[]): Promise<string | null> {
  process.env.MUTANT = String(id);
  for (let from = 0, size = FIRST_FILES; from < files.length; from += size, size *= 4) {
    const modules = await runner.run(files.slice(from, from + size), { bail: 1, limitMs: MUTANT_LIMIT_MS });
    if (modules === null) return 'the tests hang';
    const module = modules.find((module) => module.state() === 'failed');
    if (!module) continue;
    const [test] = module.children.allTests('failed');
    const error = test?.result().errors?.[0] ?? module.errors()[0];
    return [relative(process.cwd(), module.moduleId), test?.fullName, error?.message.slice(0, 300)].join(': ');
  }
  return null;
}

const paths = SOURCES.flatMap((source) =>
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(source, name)),
).sort();
const candidates = paths.flatMap(listMutants);
const mutants = chooseMutants(candidates, Number(values.count), Number(values.seed));
say(`${mutants.length} of ${candidates.length} possible faults, seed ${values.seed}`);

/** A run that was interrupted goes on with the mutants that its file does not have. */
const outcomes: Outcome[] = outPath && existsSync(outPath) ? JSON.parse(readFileSync(outPath, 'utf8')) : [];
const findOutcome = (mutant: Mutant) => outcomes.find(({ id }) => id === mutant.id);
if (!mutants.every((mutant) => (findOutcome(mutant)?.original ?? mutant.original) === mutant.original))
  throw new Error(`${outPath} is of another run`);

const directory = copyProject();
process.chdir(directory);
const runner = new Runner();
try {
  for (const path of new Set(mutants.map((mutant) => mutant.path))) {
    const own = mutants.filter((mutant) => mutant.path === path);
    writeFileSync(path, writeSwitches(readFileSync(path, 'utf8'), own));
  }
  const reaching = await findTests(runner);
  for (const mutant of mutants.filter((mutant) => !findOutcome(mutant))) {
    const files = reaching.get(mutant.id) ?? [];
    const notice = await findNotice(runner, mutant, files);
    const outcome = files.length === 0 ? 'not reached' : notice === null ? 'survived' : 'noticed';
    outcomes.push({ ...mutant, outcome, notice });
    if (outcome !== 'noticed')
      say(
        `${outcome}: ${mutant.path}:${mutant.line}  ${mutant.original.slice(0, 80)} → ${mutant.mutated.slice(0, 80) || '(left out)'}`,
      );
    if (outPath) writeFileSync(outPath, JSON.stringify(outcomes, null, 1));
  }
} finally {
  await runner.close();
  process.chdir('/');
  rmSync(directory, { recursive: true, force: true });
}
const count = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted).length;
say(`${count('noticed')} noticed, ${count('survived')} survived, ${count('not reached')} not reached`);
// Workers that a fault keeps alive do not hold the report back.
process.exit(0);
