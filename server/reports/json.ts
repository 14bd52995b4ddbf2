import type { FileWriter, ReportHead } from './file-writer';
import type { Cell, ReportSection } from './template';

// One JSON object: what the report is, its sections by key, its rows as objects, and their number at the end.

const showHead = ({ columns: _, listTitle: __, ...head }: ReportHead) => head;

function showSection({ numbers, chart, table }: ReportSection): object {
  return {
    ...(numbers && Object.fromEntries(numbers.map(({ key, value }) => [key, value]))),
    ...(chart && { labels: chart.labels, series: chart.series.map(({ name, values }) => ({ name, values })) }),
    ...(table?.hasMore && { hasMore: true }),
    ...(table && { rows: table.rows.map((row) => nameCells(table.columns, row)) }),
  };
}

const nameCells = (columns: readonly { key: string }[], row: readonly Cell[]) =>
  Object.fromEntries(columns.map(({ key }, index) => [key, row[index] ?? null]));

export const jsonWriter: FileWriter = {
  begin(head, sections) {
    const shown = Object.fromEntries(sections.map((section) => [section.key, showSection(section)]));
    return `{"report":${JSON.stringify(showHead(head))},\n"sections":${JSON.stringify(shown)},\n"rows":[`;
  },
  writeRows: ({ columns }, rows, isFirst) =>
    rows
      .map((row, index) => `${isFirst && index === 0 ? '\n' : ',\n'}${JSON.stringify(nameCells(columns, row))}`)
      .join(''),
  end: (rowCount) => `\n],\n"rowCount":${rowCount}}\n`,
};
