import type { ReportParameters, ReportTemplate } from '../../contract/reports';
import type { DomainContext } from '../domain/context';
import type { Cell } from '../platform/csv';

export type { Cell } from '../platform/csv';

/** What a report is about: its tenant, its parameters, and its window [startAt, endAt). */
export interface ReportContext extends DomainContext {
  parameters: ReportParameters;
  startAt: string;
  endAt: string;
}

/** A column of a list: `key` is its name in CSV and JSON, `title` its name for people. */
export interface ReportColumn<Row> {
  key: string;
  title: string;
  value(row: Row): Cell;
  /** Shown in a document for people, where there is little room. */
  isPrinted?: boolean;
}

/** A part of a report that comes before its list: numbers, a chart, or a short table. */
export interface ReportSection {
  key: string;
  title: string;
  numbers?: { key: string; title: string; value: Cell }[];
  chart?: Chart;
  /** `hasMore`: rows were left out. */
  table?: { columns: { key: string; title: string }[]; rows: Cell[][]; hasMore?: boolean };
}

/** The tone of a series in a chart, as in the dashboard. */
export type SeriesTone = 'bot' | 'medium' | 'human' | 'neutral';

/** Stacked bars: one for each label. */
export interface Chart {
  summary: string;
  labels: string[];
  series: { name: string; tone: SeriesTone; values: number[] }[];
}

/** Where the next page begins. It is stored as JSON between steps. */
export type RowPosition = (string | number)[];

/** A page of the list. `next` is null after the last one. */
export interface RowPage {
  rows: Cell[][];
  next: RowPosition | null;
}

/** What a report of a kind has. */
export interface Template {
  id: ReportTemplate;
  name: string;
  about: string;
  /** The title of its list in a document. */
  listTitle: string;
  columns: readonly Omit<ReportColumn<never>, 'value'>[];
  /** Throws NOT_FOUND if there is nothing that the report could be about. */
  assertSubject(context: ReportContext): Promise<void>;
  /** Reads the window that is counted, where it is not the one that was asked for. */
  readWindow?(context: ReportContext): Promise<Pick<ReportContext, 'startAt' | 'endAt'>>;
  /** Reads what comes before the list. It reads counts, or rows bounded in number. */
  summarise(context: ReportContext): Promise<ReportSection[]>;
  /** Reads a page of at most `limit` rows by one fixed statement along an index. */
  readPage(context: ReportContext, after: RowPosition | null, limit: number): Promise<RowPage>;
}

/** Defines a template by rows and columns. */
export function defineTemplate<Row>(
  template: Omit<Template, 'columns' | 'readPage'> & {
    columns: readonly ReportColumn<Row>[];
    readRows(
      context: ReportContext,
      after: RowPosition | null,
      limit: number,
    ): Promise<{ rows: Row[]; next: RowPosition | null }>;
  },
): Template {
  const { readRows, columns, ...rest } = template;
  return {
    ...rest,
    columns: columns.map(({ key, title, isPrinted = false }) => ({ key, title, isPrinted })),
    async readPage(context, after, limit) {
      const { rows, next } = await readRows(context, after, limit);
      return { rows: rows.map((row) => columns.map(({ value }) => value(row))), next };
    },
  };
}
