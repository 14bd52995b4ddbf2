import { CHART_COLORS } from '../../../contract/chart-colors';
import { removeDirectionMarks } from '../../../contract/direction-marks';
import type { ReportHead } from '../file-writer';
import type { Cell, ReportSection } from '../template';

/** The most rows that a document lists. A longer one is no reading, and takes seconds and hundreds of megabytes to set. */
export const MAX_PRINTED_ROWS = 1_000;

/** What the layout (document.typ) reads. Every value is text as it is printed. */
export interface DocumentData {
  name: string;
  about: string;
  integrationName: string;
  facts: [name: string, value: string][];
  sections: {
    title: string;
    chart?: { summary: string; labels: string[]; series: { name: string; color: string; values: number[] }[] };
    table?: { columns: string[]; rows: string[][] };
  }[];
  listTitle: string;
  columns: string[];
  rows: string[][];
  /** What the list leaves out. */
  note: string | null;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * Prints a number with three decimals at most. It is never rounded up: 0.6996 is no bot at a cut point of 70, and no user is certain
 * with it.
 */
function printNumber(value: number): string {
  if (value > 0 && value < 0.001) return '<0.001';
  return String(Number(String(value).replace(/(\.\d{3})\d+$/, '$1')));
}

/** Prints a value for people: times without milliseconds, numbers with three decimals at most. */
export function printCell(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return printNumber(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (typeof cell !== 'string') return removeDirectionMarks(cell.join('; '));
  return INSTANT.test(cell) ? `${cell.slice(0, 10)} ${cell.slice(11, 19)}` : removeDirectionMarks(cell);
}

/** What a list leaves out. Where the reading was given up, nobody knows whether more rows would have come. */
const NOTES = {
  nothing: '',
  rows: 'There are more: the same report as CSV or JSON has all of them.',
  unread: 'There may be more: the same report as CSV or JSON has all of them.',
};

/** Lays out a report as a document. `left`: what is not among the rows. */
export function layOutDocument(
  head: ReportHead,
  sections: readonly ReportSection[],
  rows: readonly Cell[][],
  left: keyof typeof NOTES,
): DocumentData {
  const printed = head.columns.flatMap(({ isPrinted }, index) => (isPrinted ? [index] : []));
  return {
    name: removeDirectionMarks(head.name),
    about: head.about,
    integrationName: removeDirectionMarks(head.integrationName),
    facts: listFacts(head),
    sections: sections.map(showSection),
    listTitle: head.listTitle,
    columns: printed.map((index) => head.columns[index]!.title),
    rows: rows.map((row) => printed.map((index) => printCell(row[index]))),
    note: left === 'nothing' ? null : `The list has the first ${rows.length} rows. ${NOTES[left]}`,
  };
}

function listFacts({
  integrationName,
  startAt,
  endAt,
  sessionsKeptFrom,
  requestedAt,
  parameters,
  reportId,
}: ReportHead) {
  const facts: [name: string, value: string | undefined][] = [
    ['Integration', integrationName],
    ['Course', parameters.courseId],
    ['User', parameters.userId],
    ['Risk', parameters.riskLevel],
    ['Window', `${printCell(startAt)} to ${printCell(endAt)}`],
    [
      'Sessions',
      sessionsKeptFrom === null ? undefined : `kept since ${printCell(sessionsKeptFrom)}; earlier ones are removed`,
    ],
    ['Requested', printCell(requestedAt)],
    ['Times', 'UTC'],
    ['Report', reportId],
  ];
  return facts.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, removeDirectionMarks(value)]],
  );
}

function showSection({ title, numbers, chart, table }: ReportSection): DocumentData['sections'][number] {
  if (chart) {
    const series = chart.series.map(({ name, tone, values }) => ({ name, values, color: CHART_COLORS[tone] }));
    return { title, chart: { summary: chart.summary, labels: chart.labels, series } };
  }
  if (numbers) {
    const rows = numbers.map((number) => [number.title, printCell(number.value)]);
    return { title, table: { columns: ['What', 'Value'], rows } };
  }
  const { columns, rows } = table!;
  return {
    title,
    table: { columns: columns.map((column) => column.title), rows: rows.map((row) => row.map(printCell)) },
  };
}
