import { and, eq, getTableColumns } from 'drizzle-orm';
import type { Page } from '../../contract/pagination';
import type { ListWritingSessionsInput, WritingSession } from '../../contract/writing';
import { writingScores } from '../../db/schema';
import type { DomainContext } from './context';
import { newestFirst, readPage } from './pages';

const WRITING = newestFirst({ scoredAt: writingScores.scoredAt, id: writingScores.sessionId }, 'scoredAt');

/** Lists writing sessions, those that were scored last first, optionally of one browsing session or user. */
export async function listWritingSessions(
  context: DomainContext,
  input: ListWritingSessionsInput,
): Promise<Page<WritingSession>> {
  const { browsingSessionId, userId } = input;
  const { integrationId, sessionId: id, ...shown } = getTableColumns(writingScores);
  return readPage(context, { route: 'writing', filters: { browsingSessionId, userId } }, input, {
    read: (after, limit) =>
      context.db.orm
        .select({ id, ...shown })
        .from(writingScores)
        .where(
          and(
            eq(integrationId, context.integration.id),
            browsingSessionId === undefined ? undefined : eq(writingScores.browsingSessionId, browsingSessionId),
            userId === undefined ? undefined : eq(writingScores.userId, userId),
            WRITING.isAfter(after),
          ),
        )
        .orderBy(...WRITING.orderBy)
        .limit(limit),
    locate: WRITING.locate,
    show: (row): WritingSession => row,
  });
}
