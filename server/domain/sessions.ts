import { and, arrayContains, desc, eq, gte, isNull, lt, lte, type SQL, sql } from 'drizzle-orm';
import { sessions, users } from '../../db/schema';
import { ApiError } from '../contract/errors';
import { clampPageSize, type Page } from '../contract/pagination';
import type { LabelSessionInput, ListSessionsInput, Session, SessionLabel } from '../contract/sessions';
import type { ListUserSessionsInput } from '../contract/users';
import type { DomainContext } from './context';
import { decodeCursor, makePage, type Walk } from './cursors';
import { classifyRisk, findRiskRange } from './risk';

type SessionRow = typeof sessions.$inferSelect;
type FoundSession = { session: SessionRow; userName: string | null; userUrl: string | null };

/** Sessions with the user that each is correlated with. */
const selectSessions = ({ db }: DomainContext) =>
  db.orm
    .select({ session: sessions, userName: users.name, userUrl: users.url })
    .from(sessions)
    .leftJoin(users, and(eq(users.integrationId, sessions.integrationId), eq(users.id, sessions.userId)));

const isSession = (context: DomainContext, sessionId: string) =>
  and(eq(sessions.integrationId, context.integration.id), eq(sessions.id, sessionId));

/** Finds one session (specification: GET /v1/sessions/{sessionId}). NOT_FOUND when unknown or of another integration. */
export async function getSession(context: DomainContext, input: { sessionId: string }): Promise<Session> {
  const [found] = await selectSessions(context).where(isSession(context, input.sessionId));
  if (!found) throw new ApiError('NOT_FOUND', 'Session not found');
  return showSession(context, found);
}

/** Lists sessions, newest first (specification: GET /v1/sessions; Pagination). */
export async function listSessions(context: DomainContext, input: ListSessionsInput): Promise<Page<Session>> {
  const { cursor, pageSize, ...filters } = input;
  return listPage(context, { route: 'sessions', filters }, toConditions(context, filters), { cursor, pageSize });
}

/**
 * Lists a user's sessions, newest first (specification: GET /v1/users/{userId}/sessions). NOT_FOUND for a user that no
 * session is correlated with.
 */
export async function listUserSessions(context: DomainContext, input: ListUserSessionsInput): Promise<Page<Session>> {
  const { userId, ...position } = input;
  const walk = { route: 'users/sessions', filters: { userId } };
  const page = await listPage(context, walk, [eq(sessions.userId, userId)], position);
  const isFirst = input.cursor === undefined;
  if (page.data.length === 0 && isFirst && !(await isPruned(context, userId)))
    throw new ApiError('NOT_FOUND', 'User not found');
  return page;
}

/** Whether all that is left of a user's sessions is their counts. */
async function isPruned({ db, integration }: DomainContext, userId: string): Promise<boolean> {
  const found = await db.query(`select 1 from pruned_ends where integration_id = $1 and kind = 'user' and value = $2`, [
    integration.id,
    userId,
  ]);
  return found.length > 0;
}

/** Labels a session as bot or human; the new label replaces the old one (specification: Rule 3). NOT_FOUND as getSession. */
export async function labelSession(context: DomainContext, input: LabelSessionInput): Promise<SessionLabel> {
  const [labeled] = await context.db.orm
    .update(sessions)
    .set({
      label: input.verdict === 'bot' ? 1 : -1,
      labelConfidence: input.confidence ?? null,
      labelNotes: input.notes ?? null,
      labeledAt: sql`now()`,
      updatedAt: sql`now()`,
    })
    .where(isSession(context, input.sessionId))
    .returning();
  const label = labeled && showLabel(labeled);
  if (!label) throw new ApiError('NOT_FOUND', 'Session not found');
  return { sessionId: input.sessionId, ...label };
}

async function listPage(
  context: DomainContext,
  walk: Walk,
  filters: SQL[],
  { cursor, pageSize }: { cursor?: string | undefined; pageSize: number },
): Promise<Page<Session>> {
  const limit = clampPageSize(pageSize, context.integration.tier);
  const conditions = [eq(sessions.integrationId, context.integration.id), ...filters];
  if (cursor !== undefined) {
    const [createdAt, id] = decodeCursor(context, walk, cursor);
    conditions.push(sql`(${sessions.createdAt}, ${sessions.id}) < (${createdAt}, ${id})`);
  }
  const rows = await selectSessions(context)
    .where(and(...conditions))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(limit + 1);
  const show = (row: FoundSession) => showSession(context, row);
  return makePage(context, walk, rows, limit, show, ({ session }) => [session.createdAt, session.id]);
}

function toConditions(context: DomainContext, filters: Omit<ListSessionsInput, 'cursor' | 'pageSize'>): SQL[] {
  const conditions: SQL[] = [];
  const { startDate, endDate, status, minBotScore, maxBotScore, riskLevel, detectionFlag, label } = filters;
  if (startDate) conditions.push(gte(sessions.createdAt, startDate.at));
  if (endDate) conditions.push(lt(sessions.createdAt, endDate.at));
  if (status) conditions.push(eq(sessions.status, status));
  if (minBotScore !== undefined) conditions.push(gte(sessions.botScore, minBotScore));
  if (maxBotScore !== undefined) conditions.push(lte(sessions.botScore, maxBotScore));
  if (riskLevel) {
    const range = findRiskRange(riskLevel, context.integration);
    conditions.push(gte(sessions.effectiveBin, range.from), lt(sessions.effectiveBin, range.below));
  }
  if (detectionFlag) conditions.push(arrayContains(sessions.detectionFlags, [detectionFlag]));
  if (label) conditions.push(label === 'none' ? isNull(sessions.label) : eq(sessions.label, label === 'bot' ? 1 : -1));
  if (filters.userId) conditions.push(eq(sessions.userId, filters.userId));
  if (filters.courseId) conditions.push(eq(sessions.courseId, filters.courseId));
  if (filters.fingerprint) conditions.push(eq(sessions.fingerprint, filters.fingerprint));
  if (filters.origin) conditions.push(eq(sessions.origin, filters.origin));
  if (filters.deviceType) conditions.push(eq(sessions.deviceType, filters.deviceType));
  return conditions;
}

function showLabel({ label, labelConfidence, labelNotes, labeledAt }: SessionRow): Session['label'] {
  if (label === null || labeledAt === null) return null;
  return { verdict: label === 1 ? 'bot' : 'human', confidence: labelConfidence, notes: labelNotes, labeledAt };
}

function showSession({ integration }: DomainContext, { session, userName, userUrl }: FoundSession): Session {
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
    userName,
    userUrl,
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
