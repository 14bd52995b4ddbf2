import type { ReportParameters, ReportTemplate } from '../../contract/reports';
import type { Cell, ReportSection } from './template';

/** What a file says of itself. */
export interface ReportHead {
  reportId: string;
  name: string;
  template: ReportTemplate;
  about: string;
  integrationName: string;
  parameters: ReportParameters;
  startAt: string;
  endAt: string;
  /** Retention has removed earlier sessions. Null if the window has none. */
  sessionsKeptFrom: string | null;
  requestedAt: string;
  /** The title of the list. */
  listTitle: string;
  columns: readonly { key: string; title: string; isPrinted?: boolean }[];
}

/** Writes a file piece by piece: its beginning, rows in their order, its end. It keeps nothing between the calls. */
export interface FileWriter {
  begin(head: ReportHead, sections: readonly ReportSection[]): string;
  /** `isFirst`: no row was written before. */
  writeRows(head: ReportHead, rows: readonly Cell[][], isFirst: boolean): string;
  end(rowCount: number): string;
}
