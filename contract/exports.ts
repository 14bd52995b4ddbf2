import { word } from './fields';

// Exports: lists of the API as files. Filters, order, fields and columns are those of the list.

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const exportFormatInput = word(EXPORT_FORMATS).default('ndjson');

export interface Export {
  listPath: string;
  path: string;
  operationId: string;
  summary: string;
}

/** The lists that can be exported. */
export const EXPORTS: Export[] = [
  {
    listPath: '/v1/sessions',
    path: '/v1/exports/sessions',
    operationId: 'exportSessions',
    summary: 'Export sessions',
  },
  { listPath: '/v1/users', path: '/v1/exports/users', operationId: 'exportUsers', summary: 'Export users' },
  {
    listPath: '/v1/webhook-events',
    path: '/v1/exports/webhook-events',
    operationId: 'exportWebhookEvents',
    summary: 'Export webhook events',
  },
  {
    listPath: '/v1/audit-log',
    path: '/v1/exports/audit-log',
    operationId: 'exportAuditEntries',
    summary: 'Export the audit log',
  },
];
