import type { AnyTRPCProcedure } from '@trpc/server';
import { getInputOutputParsers } from 'trpc-to-openapi';
import { z } from 'zod';
import { ApiError } from '../../contract/errors';
import type { ExportFormat } from '../../contract/exports';
import type { Page } from '../../contract/pagination';
import { BYTE_ORDER_MARK, type Cell, writeCsvLine } from '../platform/csv';
import { openStream } from '../platform/streams';
import type { Service } from '../service';
import { writeContentDisposition } from './content-disposition';
import type { RestResponse } from './responses';

// Lists as files: exports of the API and downloads of the dashboard. A file reads the pages of a list one after the other through
// the list's own procedure, as fast as the client reads. So it has what the list has, for whom the list is open, and keeps one page.

/** How a file writes its rows. */
export interface FileFormat {
  extension: string;
  contentType: string;
  head: string;
  writeRow(row: unknown): string;
}

export type FileFormats = Record<ExportFormat, FileFormat>;

/** Makes the formats of a list from its procedure, whose output is a page. */
export function makeFileFormats(procedure: AnyTRPCProcedure): FileFormats {
  const page = getInputOutputParsers(procedure as never).outputParser as z.ZodObject<{ data: z.ZodArray<z.ZodType> }>;
  const columns = listColumns(page.shape.data.element);
  return {
    csv: {
      extension: 'csv',
      contentType: 'text/csv; charset=utf-8; header=present',
      head: BYTE_ORDER_MARK + writeCsvLine(columns.map(({ path }) => path.join('.'))),
      writeRow: (row) => writeCsvLine(columns.map((column) => readCell(row, column))),
    },
    ndjson: {
      extension: 'ndjson',
      contentType: 'application/x-ndjson',
      head: '',
      writeRow: (row) => `${JSON.stringify(row)}\n`,
    },
  };
}

interface Column {
  path: string[];
  /** Whether it holds a list of texts. An empty one is told by its schema alone. */
  isTexts: boolean;
}

/** Lists the fields of a schema in their order, those of an object in its place. */
function listColumns(schema: z.ZodType, path: string[] = []): Column[] {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return listColumns(schema.unwrap() as z.ZodType, path);
  if (!(schema instanceof z.ZodObject))
    return [{ path, isTexts: schema instanceof z.ZodArray && schema.element instanceof z.ZodString }];
  return Object.entries(schema.shape).flatMap(([name, field]) => listColumns(field as z.ZodType, [...path, name]));
}

/** Reads the cell of a column. A list of texts is joined, anything else that has parts is written as JSON. */
function readCell(row: unknown, { path, isTexts }: Column): Cell {
  const value = path.reduce((holder, name) => (holder as Record<string, unknown> | null | undefined)?.[name], row);
  if (value === undefined || value === null) return null;
  return isTexts || typeof value !== 'object' ? (value as Cell) : JSON.stringify(value);
}

/** Reads a page of a list with its filters. */
export type ReadPage = (position: { cursor?: string; pageSize: number }) => Promise<Page<unknown>>;

const PAGE_SIZE = 100;

/** Reads a list page by page and writes it. Throws what the list refuses, at the latest with the first piece. */
export async function* writeListFile(
  readPage: ReadPage,
  { head, writeRow }: Pick<FileFormat, 'head' | 'writeRow'>,
  maxRows = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void, undefined> {
  let text = head;
  let rows = 0;
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await readPage({ pageSize: PAGE_SIZE, ...(cursor ? { cursor } : {}) });
    const taken = data.slice(0, maxRows - rows);
    rows += taken.length;
    for (const row of taken) text += writeRow(row);
    const isCut = taken.length < data.length || (rows === maxRows && pagination.hasMore);
    if (isCut) text += writeCsvLine([`Cut after ${maxRows} rows: narrow the filters`]);
    // An empty piece too: this is where a client that has left is noticed.
    yield Buffer.from(text);
    if (isCut || !pagination.hasMore) return;
    text = '';
    cursor = pagination.nextCursor;
  }
}

const MAX_FILES_OF_OWNER = 2;
const RETRY_AFTER_SECONDS = 10;

/** The places for files that are being written. Each file takes one connection to the database again and again. */
export class FilePlaces {
  /** Who is being written a file, once for each file. By service, because tests run several in a process. */
  readonly #owners = new WeakMap<Service, string[]>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a place. Returns how to give it back. RATE_LIMITED if all are taken, or two of them by the owner. */
  take(service: Service, owner: string): () => void {
    const owners = this.#owners.get(service) ?? [];
    this.#owners.set(service, owners);
    if (owners.length >= this.#max || owners.filter((one) => one === owner).length >= MAX_FILES_OF_OWNER)
      throw new ApiError('RATE_LIMITED', 'Too many files are being written. Try again when one has ended', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    owners.push(owner);
    return () => void owners.splice(owners.indexOf(owner), 1);
  }
}

/** Reads the first piece of a file. The place is given back when the file ends, breaks or is left. */
export function openFile(pieces: AsyncIterable<Uint8Array>, releasePlace: () => void) {
  async function* writeInPlace() {
    try {
      yield* pieces;
    } finally {
      releasePlace();
    }
  }
  return openStream(writeInPlace());
}

/** Answers a list as a file whose name ends with the day. */
export async function answerListFile(
  pieces: AsyncIterable<Uint8Array>,
  { name, format, headers, releasePlace }: ListFile,
): Promise<RestResponse> {
  const stream = await openFile(pieces, releasePlace);
  const day = new Date().toISOString().slice(0, 10);
  return {
    status: 200,
    headers: {
      ...headers,
      'content-type': format.contentType,
      'content-disposition': writeContentDisposition(`${name} ${day}`, format.extension),
    },
    body: null,
    stream,
  };
}

interface ListFile {
  name: string;
  format: FileFormat;
  headers: Record<string, string>;
  releasePlace(): void;
}
