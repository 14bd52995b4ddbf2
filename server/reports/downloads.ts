import { ApiError } from '../../contract/errors';
import type { ReportFormat } from '../../contract/events';
import type { Database } from '../../db/client';
import type { ReportPart } from '../../db/schema/reports';
import { openStream } from '../platform/streams';
import type { ReportStores, StoreName } from './stores/store';

/** A file as it is answered. */
export interface ReportFile {
  integrationId: string;
  name: string;
  format: ReportFormat;
  size: number;
  /** Begins to read it. Throws SERVICE_UNAVAILABLE if the store does not answer. */
  open(): Promise<AsyncIterable<Uint8Array>>;
}

interface FileRow {
  integrationId: string;
  name: string;
  format: ReportFormat;
  state: string;
  isExpired: boolean;
  store: StoreName | null;
  parts: ReportPart[] | null;
  fileSize: number | null;
}

/**
 * Opens the file of a report. With an integration, only its own reports are found; staff, who belong to none, name no
 * integration. NOT_FOUND for an unknown report, for one that expired and for one that is not ready.
 */
export async function openReportFile(
  { db, stores }: { db: Database; stores: ReportStores },
  { integrationId, reportId }: { integrationId: string | null; reportId: string },
): Promise<ReportFile> {
  const [row] =
    integrationId === null
      ? await db.query<FileRow>(FIND_BY_ID, [reportId])
      : await db.query<FileRow>(FIND, [integrationId, reportId]);
  if (!row || row.state === 'Deleted') throw new ApiError('NOT_FOUND', 'Report not found');
  if (row.isExpired) throw new ApiError('NOT_FOUND', 'The report has expired');
  if (row.state === 'Failed') throw new ApiError('NOT_FOUND', 'The report has no file: it failed');
  if (row.state !== 'Ready') throw new ApiError('NOT_FOUND', 'The report is not ready yet');
  const store = row.store && stores[row.store];
  if (!store) throw new ApiError('SERVICE_UNAVAILABLE', 'The store of this report is not configured');
  const report = { integrationId: row.integrationId, reportId };
  const { parts } = row;
  async function* readParts() {
    for (const part of parts ?? []) yield* store!.read(report, part);
  }
  return {
    integrationId: row.integrationId,
    name: row.name,
    format: row.format,
    size: row.fileSize ?? 0,
    open: () =>
      openStream(readParts()).catch((error: unknown) => {
        throw new ApiError('SERVICE_UNAVAILABLE', 'The file cannot be read now', { cause: error });
      }),
  };
}

const COLUMNS = `integration_id as "integrationId", name, format, state, expires_at <= now() as "isExpired", store, parts,
         file_size as "fileSize"`;
const FIND = `select ${COLUMNS} from report_jobs where integration_id = $1 and id = $2`;
const FIND_BY_ID = `select ${COLUMNS} from report_jobs where id = $1`;
