import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { REPORT_FORMATS } from '../../contract/events';
import { text } from '../../contract/fields';
import type { BatchDraft, FactResult, ReportRow } from './draft';
import { count, factId, factTime } from './fact-fields';

// Customers put the dashboard's host in front of it: nothing that would lead to another host.
const HOST_PATH = /^\/(?![/\\])[^\s\p{Cc}]*$/u;

export const reportReady = z.object({
  kind: z.literal('reportReady'),
  reportId: factId(),
  reportName: text(1, 512),
  templateId: factId(),
  format: z.enum(REPORT_FORMATS),
  recordCount: count().nullish(),
  fileSize: count(Number.MAX_SAFE_INTEGER).nullish(),
  completedAt: factTime(),
  expiresAt: factTime().nullish(),
  downloadUrl: text(1, 8192).regex(HOST_PATH, 'must be a path that begins with one slash'),
});

/** A report is complete and can be fetched. */
export function applyReportReady(fact: z.output<typeof reportReady>, draft: BatchDraft): FactResult {
  const { reportId, reportName, templateId, format, completedAt, downloadUrl } = fact;
  const described = {
    templateId,
    format,
    recordCount: fact.recordCount ?? null,
    fileSize: fact.fileSize ?? null,
    completedAt,
    expiresAt: fact.expiresAt ?? null,
    downloadUrl,
  };
  const report: ReportRow = { integrationId: draft.integrationId, id: reportId, name: reportName, ...described };
  const existing = draft.findRecord('reports', report);
  if (existing) return draft.repeat(fact.kind, reportId, isDeepStrictEqual(existing, report));
  draft.assertNotAhead('completedAt', completedAt);
  draft.addRecord('reports', report);
  draft.tell('ReportReady', { reportId, reportName, ...described });
  return 'accepted';
}
