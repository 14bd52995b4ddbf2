import { classifyRisk } from '../domain/risk';
import type { BatchDraft, SessionDraft } from './draft';

/** A session's `effectiveBin`, as the database's generated column has it. */
const effectiveBin = ({ row }: SessionDraft) => (row.label === 1 ? 101 : row.label === -1 ? -1 : row.scoreBin);

/**
 * Closed and scored is `Scored`; without a score a failure outranks the close (decisions: Facts). The first time it is
 * `Scored`, a session of the bot class fires BotDetected (specification: Event types); nothing fires it again.
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
  draft.tell('BotDetected', {
    sessionId: row.id,
    botScore: row.botScore,
    scoredAt: row.scoredAt,
    userId: row.userId,
    contextId: row.courseId,
    sessionUrl: draft.findSessionUrl(row.id),
  });
}
