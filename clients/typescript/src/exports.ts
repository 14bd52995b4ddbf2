import { readRows, streamFile } from './files.js';
import type { Filters, RequestOptions, Schemas } from './operations.js';
import type { Transport } from './transport.js';

/** What a row of each export is. */
interface Rows {
  exportSessions: Schemas['Session'];
  exportUsers: Schemas['User'];
  exportWebhookEvents: Schemas['WebhookEvent'];
  exportAuditEntries: Schemas['AuditEntry'];
}

/** A list as a file: its rows as objects, or with `format: 'csv'` a stream of the bytes of a CSV file. */
export interface Export<Id extends keyof Rows> {
  (filters: Omit<Filters<Id>, 'format'> & { format: 'csv' }, options?: RequestOptions): ReadableStream<Uint8Array>;
  (
    filters?: Omit<Filters<Id>, 'format'> & { format?: 'ndjson' },
    options?: RequestOptions,
  ): AsyncGenerator<Rows[Id], void, undefined>;
}

/**
 * Makes the exports. The request is sent when the first row or byte is read, and the file is written while it is read. A file
 * that breaks off throws a ConnectionError. `timeoutMs` limits the wait for each part.
 */
export const makeExports = (api: Transport) => ({
  /** All sessions that the filters permit, newest first. */
  sessions: makeExport<'exportSessions'>(api, '/v1/exports/sessions'),
  /** All users. */
  users: makeExport<'exportUsers'>(api, '/v1/exports/users'),
  /** All events that fired and that the filters permit. */
  webhookEvents: makeExport<'exportWebhookEvents'>(api, '/v1/exports/webhook-events'),
  /** The whole audit log. */
  auditLog: makeExport<'exportAuditEntries'>(api, '/v1/exports/audit-log'),
});

function makeExport<Id extends keyof Rows>(api: Transport, path: string): Export<Id> {
  const readExport = (filters?: { format?: 'csv' | 'ndjson' }, options?: RequestOptions) => {
    const open = (signal = options?.signal) =>
      api.open({ method: 'GET', path, query: filters, options: { ...options, signal } });
    return filters?.format === 'csv' ? streamFile(open, options?.signal) : readRows<Rows[Id]>(open);
  };
  return readExport as Export<Id>;
}
