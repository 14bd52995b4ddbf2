import { ApiError } from '../../contract/errors';
import type { Page } from '../../contract/pagination';
import type { ListSessionsInput, Session } from '../../contract/sessions';
import type { ListSortedSessionsInput } from '../../contract/sorting';
import type { ListUserSessionsInput } from '../../contract/users';
import type { DomainContext } from './context';
import type { Walk } from './cursors';
import { showLabel } from './labels';
import { type PageInput, readPage } from './pages';
import { classifyRisk } from './risk';
import {
  type ListedSession,
  MAX_EXAMINED,
  readTopSessions,
  type ScorePosition,
  type SessionFilters,
  SHOWN_COLUMNS,
  type ShownSession,
  walkSessions,
} from './session-walks';

/** Finds one session (specification: GET /v1/sessions/{sessionId}). NOT_FOUND if the integration has no such session. */
export async function getSession(context: DomainContext, input: { sessionId: string }): Promise<Session> {
  const [found] = await context.db.lookUp<ShownSession>(READ_SESSION, [context.integration.id, input.sessionId]);
  if (!found) throw new ApiError('NOT_FOUND', 'Session not found');
  return showSession(context, found);
}

/** Reads a session of an integration ($1) by id ($2). */
export const READ_SESSION = `
  select ${SHOWN_COLUMNS}
    from sessions s left join users u on u.integration_id = s.integration_id and u.id = s.user_id
   where s.integration_id = $1 and s.id = $2`;

/**
 * Lists sessions, newest first (specification: GET /v1/sessions; Pagination). When a page has examined `budget` sessions, it
 * ends, even with fewer rows than its size.
 */
export async function listSessions(
  context: DomainContext,
  input: ListSessionsInput,
  budget = MAX_EXAMINED,
): Promise<Page<Session>> {
  const { cursor, pageSize, ...filters } = input;
  return listPage(context, { route: 'sessions', filters }, filters, { cursor, pageSize }, budget);
}

/**
 * Lists sessions in an order of staff's choice. `highestScore` sorts the newest MAX_SORTED sessions of the index that serves the
 * filters.
 */
export async function listSortedSessions(
  context: DomainContext,
  { sort, cursor, pageSize, ...filters }: ListSortedSessionsInput,
): Promise<Page<Session>> {
  const walk = { route: 'sorted-sessions', filters: { ...filters, sort } };
  const input = { cursor, pageSize };
  if (sort !== 'highestScore') return listPage(context, walk, filters, input, MAX_EXAMINED, sort === 'oldest');
  return readPage(context, walk, input, {
    read: (after, limit) => readTopSessions(context, filters, after as ScorePosition | null, limit),
    locate: ({ botScore, createdAt, id }: ShownSession) => [botScore!, createdAt, id],
    show: (row) => showSession(context, row),
  });
}

/**
 * Lists a user's sessions, newest first (specification: GET /v1/users/{userId}/sessions). NOT_FOUND for a user without
 * sessions, unless retention removed some.
 */
export async function listUserSessions(context: DomainContext, input: ListUserSessionsInput): Promise<Page<Session>> {
  const { userId, ...position } = input;
  const walk = { route: 'users/sessions', filters: { userId } };
  const page = await listPage(context, walk, { userId }, position, MAX_EXAMINED);
  const isFirst = input.cursor === undefined;
  if (page.data.length === 0 && isFirst && !(await isPruned(context, userId)))
    throw new ApiError('NOT_FOUND', 'User not found');
  return page;
}

/** Whether retention has removed sessions of a user. */
async function isPruned({ db, integration }: DomainContext, userId: string): Promise<boolean> {
  const found = await db.query(`select 1 from pruned_ends where integration_id = $1 and kind = 'user' and value = $2`, [
    integration.id,
    userId,
  ]);
  return found.length > 0;
}

async function listPage(
  context: DomainContext,
  walk: Walk,
  filters: SessionFilters,
  input: PageInput,
  budget: number,
  isOldestFirst = false,
): Promise<Page<Session>> {
  return readPage(context, walk, input, {
    async read(after, limit) {
      const stretch = { after: after as [string, string] | null, rows: limit, budget };
      const found = await walkSessions(context, filters, stretch, isOldestFirst);
      return {
        rows: found.filter(({ isMatch }) => isMatch),
        stoppedAt: found.find(({ examined }) => examined === budget),
      };
    },
    locate: ({ createdAt, id }: ListedSession) => [createdAt, id],
    show: (row) => showSession(context, row),
  });
}

function showSession({ integration }: DomainContext, session: ShownSession): Session {
  return {
    id: session.id,
    createdAt: session.createdAt,
    updatedAt: session.updatedAt,
    status: session.status,
    botScore: session.botScore,
    detectionFlags: session.detectionFlags,
    pageUrl: session.pageUrl,
    userAgentSummary: session.userAgentSummary,
    userId: session.userId,
    userName: session.userName,
    userUrl: session.userUrl,
    riskLevel: classifyRisk(session.effectiveBin, integration),
    label: showLabel(session),
    courseId: session.courseId,
    deviceFingerprint: session.fingerprint,
    deviceType: session.deviceType,
    browser: session.browser,
    origin: session.origin,
    country: session.country,
    correlationConfidence: session.correlationConfidence,
  };
}
