import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FitSummary } from './fit';
import type { Rate } from './interval';
import type { Outcome, Results, SubjectResult } from './judge';

// The laboratory's results as tables of docs/detection.md. Misses and false accusations come first.

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = fileOf('../../docs/detection.md');
const RESULTS = fileOf('results.json');
const SECTION = /<!-- Generated: the laboratory\..*?<!-- End of the laboratory\. -->/s;
const NOTE = '<!-- Generated: the laboratory. To write it again: npm run lab -- judge -->';
const END = '<!-- End of the laboratory. -->';

/** What is stored: the summary of the recordings, and the last fit if there was one. */
export interface StoredResults extends Results {
  fit: FitSummary | null;
}

/** Reads the stored results. Null if there are none. */
export function readResults(): StoredResults | null {
  try {
    return JSON.parse(readFileSync(RESULTS, 'utf8'));
  } catch {
    return null;
  }
}

/** Stores results, and writes the tables of the page. */
export function storeResults(results: StoredResults): void {
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  const page = readFileSync(PAGE, 'utf8');
  if (!SECTION.test(page)) throw new Error('docs/detection.md has no place for the tables');
  writeFileSync(
    PAGE,
    page.replace(SECTION, () => writeSection(results)),
  );
}

/** Reads the tables that the page has. */
export const readSection = (): string | undefined => SECTION.exec(readFileSync(PAGE, 'utf8'))?.[0];

const writeTable = (head: readonly string[], rows: readonly string[][]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const percent = (share: number) => `${Math.round(share * 100)}`;
const showRate = ({ count, of, low, high }: Rate) =>
  of === 0 ? '–' : `${count} of ${of} (${percent(low)}–${percent(high)} %)`;
const isMissed = ({ bot }: Outcome) => bot.count < bot.of;
const emphasise = (text: string, isBold: boolean) => (isBold ? `**${text}**` : text);
const showFlags = (flags: Record<string, number>) =>
  Object.entries(flags)
    .map(([flag, count]) => `\`${flag}\` ${count}`)
    .join(', ') || 'nothing';
const showOutcome = ({ bot, noticed, botd }: Outcome) => [bot, noticed, botd].map(showRate);

const showDriver = (driver: SubjectResult) => {
  const { name, family, isHeadful, scores, flags } = driver;
  const [bot, ...others] = showOutcome(driver);
  return [
    ...[emphasise(name, isMissed(driver)), family, isHeadful ? 'window' : 'headless'],
    ...[emphasise(bot!, isMissed(driver)), ...others, `${scores.lowest}`, showFlags(flags)],
  ];
};

const showControl = (control: SubjectResult) => {
  const { name, noticed, scores, flags } = control;
  const isAccused = noticed.count > 0;
  const [bot, medium, botd] = showOutcome(control);
  return [
    emphasise(name, isAccused),
    bot!,
    emphasise(medium!, isAccused),
    botd!,
    `${scores.highest}`,
    showFlags(flags),
  ];
};

/** Writes the section of the page. The same results give the same text. */
export function writeSection(results: StoredResults): string {
  const { drivers, families, tasks, people, simulated, allDrivers, allPeople, ruleSetVersion, sessions, fit } = results;
  const outcomes = ['`bot`', 'at least `medium`', 'BotD'];
  const driverHead = ['driver', 'family', 'runs', ...outcomes, 'lowest score', 'what was found, in sessions'];
  const controlHead = ['person', ...outcomes, 'highest score', 'what was found, in sessions'];
  const parts = [
    NOTE,
    `Rules ${ruleSetVersion}; held-out recordings (seeds from 4): ${sessions.drivers} sessions of drivers, ${sessions.people} of ` +
      `people's input, ${sessions.simulated} simulated. In brackets: 95 % intervals (Wilson).`,
    'Programs. What is missed stands first:',
    writeTable(driverHead, [...drivers.map(showDriver), ['all', '', '', ...showOutcome(allDrivers), '', '']]),
    'The same sessions by family, and by what was done:',
    writeTable(
      ['family or task', ...outcomes],
      [
        ...families.map((of) => [of.family, ...showOutcome(of)]),
        ...tasks.map((of) => [`task: ${of.task}`, ...showOutcome(of)]),
      ],
    ),
    "People's ways of input, with false accusations first:",
    writeTable(controlHead, [...people.map(showControl), ['all', ...showOutcome(allPeople), '', '']]),
  ];
  if (simulated.length > 0)
    parts.push(
      'Simulated, because this input needs a device that no program can stand for. They enter no interval:',
      writeTable(controlHead, simulated.map(showControl)),
    );
  if (fit) parts.push(...writeFit(fit));
  return [...parts, END].join('\n\n');
}

function writeFit({ ruleSetVersion, families, people, weights }: FitSummary): string[] {
  return [
    `Fitted weights (rules ${ruleSetVersion}). Each family is judged with weights that were fitted without it:`,
    writeTable(
      ['family left out', '`bot`', 'at least `medium`'],
      [
        ...families.map(({ family, bot, noticed }) => [family, showRate(bot), showRate(noticed)]),
        ["people's input, worst fit", showRate(people.bot), showRate(people.noticed)],
      ],
    ),
    writeTable(
      ['rule', 'weight in use', 'fitted', 'range over the fits'],
      weights.map(({ flag, inUse, fitted, range }) => [
        `\`${flag}\``,
        `${inUse}`,
        fitted === null ? 'proof, or never found' : `${fitted}`,
        range ? `${range[0]} to ${range[1]}` : '–',
      ]),
    ),
  ];
}
