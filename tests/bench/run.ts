import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { endProducts } from '../support/product';
import { measureAggregates } from './aggregates';
import { measureCollect } from './collect';
import { measureDashboard } from './dashboard';
import { measureDeliveries } from './deliveries';
import { measureExports } from './exports';
import { measureFindings } from './findings';
import { measureFold } from './fold';
import { measureIngest } from './ingest';
import { measureKeyCheck } from './key-check';
import { measureLists } from './lists';
import { measurePixel } from './pixel';
import { measureReads } from './reads';
import { type BenchOptions, describeFigure, formatTable, type Report } from './report';
import { measureReports } from './reports';
import { measureScore } from './score';
import { measureStart } from './start';

// `npm run bench -- [--only NAME] [--json] [--sessions N] [--pairs N] [--seconds N] [--data DIR]`: measures the built
// product and shows each figure next to its floor and goal. Progress goes to stderr.

/** The parts, with their default number of sessions. */
const BENCHMARKS: Record<string, { measure(options: BenchOptions): Promise<Report>; sessions: number }> = {
  deliveries: { measure: measureDeliveries, sessions: 5_000 },
  reads: { measure: measureReads, sessions: 5_000 },
  lists: { measure: measureLists, sessions: 100_000 },
  dashboard: { measure: measureDashboard, sessions: 100_000 },
  aggregates: { measure: measureAggregates, sessions: 100_000 },
  fold: { measure: measureFold, sessions: 100_000 },
  reports: { measure: measureReports, sessions: 100_000 },
  exports: { measure: measureExports, sessions: 100_000 },
  ingest: { measure: measureIngest, sessions: 5_000 },
  collect: { measure: measureCollect, sessions: 2_000 },
  findings: { measure: measureFindings, sessions: 100_000 },
  score: { measure: measureScore, sessions: 0 },
  key: { measure: measureKeyCheck, sessions: 5_000 },
  start: { measure: measureStart, sessions: 5_000 },
  pixel: { measure: measurePixel, sessions: 0 },
};

const DEFAULTS = { pairs: '1', seconds: '20' };

interface Plan {
  names: string[];
  isJson: boolean;
  options: Pick<BenchOptions, 'pairs' | 'seconds' | 'data'> & { sessions: number | undefined };
}

function readArguments(args: string[]): Plan {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      only: { type: 'string' },
      sessions: { type: 'string' },
      pairs: { type: 'string', default: DEFAULTS.pairs },
      seconds: { type: 'string', default: DEFAULTS.seconds },
      data: { type: 'string' },
    },
  });
  const { only, json, sessions, pairs, seconds, data } = values;
  if (only !== undefined && !(only in BENCHMARKS))
    throw new Error(`--only: must be one of ${Object.keys(BENCHMARKS).join(', ')}`);
  return {
    names: only === undefined ? Object.keys(BENCHMARKS) : [only],
    isJson: json,
    options: {
      sessions: sessions === undefined ? undefined : readCount('sessions', sessions, 1),
      pairs: readCount('pairs', pairs, 0),
      seconds: readCount('seconds', seconds, 1),
      data,
    },
  };
}

function readCount(name: string, given: string, least: number): number {
  const count = Number(given);
  if (!Number.isInteger(count) || count < least) throw new Error(`--${name}: must be a whole number from ${least}`);
  return count;
}

const machine = {
  cores: availableParallelism(),
  node: process.version,
  platform: `${process.platform}-${process.arch}`,
};

const describeReport = ({ figures, notes, details }: Report) => ({
  figures: figures.map(describeFigure),
  notes,
  details,
});

async function run({ names, isJson, options }: Plan): Promise<void> {
  const reports: Record<string, Report> = {};
  for (const name of names) {
    const say = (progress: string) => process.stderr.write(`${name}: ${progress}\n`);
    const { measure, sessions } = BENCHMARKS[name]!;
    reports[name] = await measure({ ...options, name, sessions: options.sessions ?? sessions, say });
    await endProducts(); // an idle product would slightly slow down the next part
    if (isJson) continue;
    const { cores, node, platform } = machine;
    const head = `\n${name} · ${cores} cores · Node ${node} · ${platform}`;
    process.stdout.write([head, ...reports[name].notes, '', formatTable(reports[name].figures), ''].join('\n'));
  }
  if (!isJson) return;
  const described = Object.entries(reports).map(([name, report]) => [name, describeReport(report)]);
  process.stdout.write(`${JSON.stringify({ machine, benchmarks: Object.fromEntries(described) })}\n`);
}

let ending: Promise<never> | null = null;
function end(code: number): Promise<never> {
  ending ??= endProducts().then(() => process.exit(code));
  return ending;
}

// The default handler ends products without waiting for them.
process.removeAllListeners('SIGTERM');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(1));

try {
  await run(readArguments(process.argv.slice(2)));
  await end(0);
} catch (error) {
  // Errors that follow from shutting everything down are not reported.
  if (ending === null) process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  await end(1);
}
