import { classifyRisk } from '../domain/risk';
import type { BatchDraft, SessionDraft } from './draft';

/** Computes a session's `effectiveBin` in the same way as the generated column in the database. */
const effectiveBin = ({ row }: SessionDraft) => (row.label === 1 ? 101 : row.label === -1 ? -1 : row.scoreBin);

/**
 * Sets a session's status. A closed session with a score is `Scored`. Without a score, a failure takes precedence over the
 * close (decisions: Facts). When a session becomes `Scored`, it fires BotDetected if it is in the bot class (specification:
 * Event types). This happens only once.
 */
export function settleOutcome(session: SessionDraft, draft: BatchDraft): void {
  const { row } = session;
  if (row.status === 'Scored') return;
  if (row.botScore === null || row.scoredAt === null) {
    row.status = row.failedAt !== null ? 'Failed' : 'Closed';
    return;
  }
  if (row.closedAt === null) {
    row.status = 'Active';
    return;
  }
  row.status = 'Scored';
  if (classifyRisk(effectiveBin(session), draft.thresholds) !== 'bot') return;
  draft.fireEvent('BotDetected', {
    sessionId: row.id,
    botScore: row.botScore,
    scoredAt: row.scoredAt,
    userId: row.userId,
    contextId: row.courseId,
    sessionUrl: draft.findSessionUrl(row.id),
  });
}
