import { z } from 'zod';
import { REPORT_FORMATS } from '../../contract/events';
import { text } from '../../contract/fields';
import { reports } from '../../db/schema';
import { count, factId, factTime } from './fact-fields';
import { defineFact } from './fact-kind';
import { defineRecords, isSameRecord, type RecordRow } from './records';

// Customers append it to the dashboard's host, so it must not lead to another host.
const HOST_PATH = /^\/(?:[^\s\p{Cc}/\\][^\s\p{Cc}]*)?$/u;

const REPORTS = defineRecords({ table: reports, key: ['id'], isOfSession: false });

/** A report is complete and can be fetched. */
export const reportReadyFact = defineFact({
  schema: z.object({
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
  }),
  records: REPORTS,
  nameKeys(fact, keys) {
    keys.nameRecord(REPORTS, { integrationId: keys.integrationId, id: fact.reportId });
  },
  apply(fact, draft) {
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
    const report: RecordRow<typeof REPORTS> = {
      integrationId: draft.integrationId,
      id: reportId,
      name: reportName,
      ...described,
    };
    const existing = draft.findRecord(REPORTS, report);
    if (existing) return draft.repeat(fact.kind, reportId, isSameRecord(existing, report));
    draft.assertNotAhead('completedAt', completedAt);
    draft.addRecord(REPORTS, report);
    draft.fireEvent('ReportReady', { reportId, reportName, ...described });
    return 'accepted';
  },
});
