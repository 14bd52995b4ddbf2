import { RELIABLE_CONFIDENCE } from '../../domain/correlation';
import { classifyRisk } from '../../domain/risk';
import { type ListedSession, MAX_EXAMINED, type SessionFilters, walkSessions } from '../../domain/session-walks';
import type { ReportColumn, ReportContext, RowPosition } from '../template';

/** A session of a report. */
export type ReportedSession = ListedSession & { riskLevel: string | null };

/**
 * Reads a page of the sessions of the window, newest first, along the index of one filter. A page may be empty if none of the
 * examined sessions passes.
 */
export async function readSessionRows(
  context: ReportContext,
  filters: SessionFilters,
  after: RowPosition | null,
  limit: number,
): Promise<{ rows: ReportedSession[]; next: RowPosition | null }> {
  const bound = (at: string) => ({ at, isWholeDay: false });
  const inWindow = { ...filters, startDate: bound(context.startAt), endDate: bound(context.endAt) };
  const found = await walkSessions(context, inWindow, {
    after: after as [string, string] | null,
    rows: limit,
    budget: MAX_EXAMINED,
  });
  const last = found.at(-1);
  const isEnd = last === undefined || (found.length < limit && last.examined < MAX_EXAMINED);
  return {
    rows: found
      .filter(({ isMatch }) => isMatch)
      .map((row) => ({ ...row, riskLevel: classifyRisk(row.effectiveBin, context.integration) })),
    next: isEnd ? null : [last.createdAt, last.id],
  };
}

/** What a confidence says, in words for people. */
export const UNCERTAIN_USERS = `A user confidence below ${RELIABLE_CONFIDENCE} means that the session may be somebody else’s: anybody can claim to be the user, or the user was inferred from the device.`;

const LABELS = new Map<number | null, string>([
  [1, 'bot'],
  [-1, 'human'],
]);

/** What reports say of a session. The names are those of the API. */
export const SESSION_REPORT_COLUMNS: readonly ReportColumn<ReportedSession>[] = [
  { key: 'createdAt', title: 'Began', isPrinted: true, value: ({ createdAt }) => createdAt },
  { key: 'sessionId', title: 'Session', isPrinted: true, value: ({ id }) => id },
  { key: 'status', title: 'Status', value: ({ status }) => status },
  { key: 'riskLevel', title: 'Risk', isPrinted: true, value: ({ riskLevel }) => riskLevel },
  { key: 'botScore', title: 'Score', isPrinted: true, value: ({ botScore }) => botScore },
  { key: 'detectionFlags', title: 'Flags', isPrinted: true, value: ({ detectionFlags }) => detectionFlags },
  { key: 'label', title: 'Label', isPrinted: true, value: ({ label }) => LABELS.get(label) ?? null },
  { key: 'labelNotes', title: 'Notes', value: ({ labelNotes }) => labelNotes },
  { key: 'userId', title: 'User', isPrinted: true, value: ({ userId }) => userId },
  { key: 'userName', title: 'Name', isPrinted: true, value: ({ userName }) => userName },
  {
    key: 'correlationConfidence',
    title: 'User confidence',
    isPrinted: true,
    value: ({ correlationConfidence }) => correlationConfidence,
  },
  { key: 'courseId', title: 'Course', value: ({ courseId }) => courseId },
  { key: 'pageUrl', title: 'First page', value: ({ pageUrl }) => pageUrl },
  { key: 'deviceFingerprint', title: 'Device', value: ({ fingerprint }) => fingerprint },
  { key: 'deviceType', title: 'Device type', value: ({ deviceType }) => deviceType },
  { key: 'browser', title: 'Browser', value: ({ browser }) => browser },
  { key: 'country', title: 'Country', value: ({ country }) => country },
];
