import { randomUUID } from 'node:crypto';
import { findApiError } from '../../contract/errors';
import { PLANS } from '../../contract/tiers';
import type { Database } from '../../db/client';
import type { ReportPart } from '../../db/schema/reports';
import { csvWriter } from './csv';
import type { FileWriter, ReportHead } from './file-writer';
import { findRunningReport, type ReportRun, type RunningReport, recordProgress } from './jobs';
import { jsonWriter } from './json';
import { layOutDocument, MAX_PRINTED_ROWS } from './pdf/document';
import { hasDocumentFonts } from './pdf/fonts';
import { renderPdf } from './pdf/renderer';
import { chooseWindow } from './requests';
import type { ReportStores } from './stores/store';
import type { Cell, ReportContext, RowPosition, Template } from './template';
import { TEMPLATES } from './templates';

// A report is rendered in parts, each in its own step of the engine: a part begins where the one before it ended, and is stored
// before the step ends. So a crash repeats one part at most, and the memory that it takes does not depend on the report.

const ROWS_PER_PAGE = 500;
/** A page examines a bounded number of sessions, so this also bounds the time of a part. */
const PAGES_PER_PART = 40;
const MAX_PART_BYTES = 4 * 1024 * 1024;
/** An engine runs at most 1,000 steps. */
const MAX_PARTS = 900;

/** Where a part begins. */
export interface PartStart {
  number: number;
  after: RowPosition | null;
  /** The rows of the parts before it. */
  recordCount: number;
}

/** A part that is stored. `next` is null after the last one. */
export interface RenderedPart {
  part: ReportPart;
  recordCount: number;
  next: RowPosition | null;
}

const WRITERS: Record<'csv' | 'json', FileWriter> = { csv: csvWriter, json: jsonWriter };

/**
 * Renders one part of the report of a run and stores it. Each try stores it under another key, so that two of them cannot mix.
 * Returns null if the run no longer has the report, and a failure in words if it can never succeed.
 */
export async function renderPart(
  { db, cursorKey, stores }: { db: Database; cursorKey: Buffer; stores: ReportStores },
  run: ReportRun,
  start: PartStart,
): Promise<RenderedPart | { failure: string } | null> {
  const report = await findRunningReport(db, run);
  if (!report) return null;
  if (start.number >= MAX_PARTS) return { failure: 'It has more rows than a file may have. Choose a shorter window.' };
  const store = stores[report.store];
  if (!store) return { failure: 'The store for files was changed while it was made. Ask for it again.' };
  if (report.format === 'pdf' && !hasDocumentFonts())
    return { failure: 'The server has no fonts for PDF. Ask for CSV or JSON.' };
  const context = { ...report, db, cursorKey };
  const template = TEMPLATES[report.template];
  const head = {
    ...describeReport(report, template),
    ...(await (template.readWindow?.(context) ?? { sessionsKeptFrom: findKeptFrom(report) })),
  };
  const rendering =
    report.format === 'pdf'
      ? renderDocument(head, template, context)
      : renderRows(WRITERS[report.format], head, template, context, start);
  const outcome = await rendering.catch(explainMissing);
  if ('failure' in outcome) return outcome;
  const { content, ...rendered } = outcome;
  const key = `${String(start.number).padStart(4, '0')}-${randomUUID()}`;
  await store.write(run, key, content);
  if (await recordProgress(db, run, rendered.recordCount, head))
    return { ...rendered, part: { key, size: content.length } };
  // It was deleted meanwhile, perhaps before this part was stored, or another run has it, whose parts must stay.
  await store.remove(run, key);
  return null;
}

/** The course or user of a schedule may be gone. */
function explainMissing(error: unknown): { failure: string } {
  const refusal = findApiError(error);
  if (refusal?.code !== 'NOT_FOUND') throw error;
  return { failure: `${refusal.message}.` };
}

async function renderRows(
  writer: FileWriter,
  head: ReportHead,
  template: Template,
  context: ReportContext,
  start: PartStart,
) {
  const pieces: Buffer[] = [];
  let size = 0;
  const add = (text: string) => {
    const piece = Buffer.from(text);
    pieces.push(piece);
    size += piece.length;
  };
  if (start.number === 0) add(writer.begin(head, await template.summarise(context)));
  let { after: next, recordCount } = start;
  for (let pages = 0; pages < PAGES_PER_PART && size < MAX_PART_BYTES; pages++) {
    const page = await template.readPage(context, next, ROWS_PER_PAGE);
    add(writer.writeRows(head, page.rows, recordCount === 0));
    recordCount += page.rows.length;
    next = page.next;
    if (next === null) {
      add(writer.end(recordCount));
      break;
    }
  }
  return { content: Buffer.concat(pieces, size), recordCount, next };
}

/** A document is one part, because its number of rows is bounded. One row more than it lists says that there are more. */
async function renderDocument(head: ReportHead, template: Template, context: ReportContext) {
  const found: Cell[][] = [];
  let next: RowPosition | null = null;
  for (let pages = 0; pages < PAGES_PER_PART && found.length <= MAX_PRINTED_ROWS; pages++) {
    const page = await template.readPage(context, next, Math.min(ROWS_PER_PAGE, MAX_PRINTED_ROWS + 1 - found.length));
    found.push(...page.rows);
    next = page.next;
    if (next === null) break;
  }
  const rows = found.slice(0, MAX_PRINTED_ROWS);
  const sections = await template.summarise(context);
  const left = found.length > rows.length ? 'rows' : next === null ? 'nothing' : 'unread';
  const content = await renderPdf(layOutDocument(head, sections, rows, left));
  return { content, recordCount: rows.length, next: null };
}

/** Finds from when on the plan keeps sessions, if the window begins earlier: what is listed and counted before is not all there was. */
function findKeptFrom({ integration, startAt, requestedAt }: RunningReport): string | null {
  const kept = chooseWindow({ days: PLANS[integration.plan].retentionDays }, requestedAt);
  return startAt < kept.startAt ? kept.startAt : null;
}

const describeReport = (report: RunningReport, { about, listTitle, columns }: Template): ReportHead => ({
  reportId: report.id,
  name: report.name,
  template: report.template,
  about,
  integrationName: report.integrationName,
  parameters: report.parameters,
  startAt: report.startAt,
  endAt: report.endAt,
  sessionsKeptFrom: null,
  requestedAt: report.requestedAt,
  listTitle,
  columns,
});
