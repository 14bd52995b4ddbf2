import { and, arrayContains, desc, eq, gte, isNull, lt, lte, type SQL, sql } from 'drizzle-orm';
import { sessions } from '../../db/schema';
import { ApiError } from '../contract/errors';
import { clampPageSize, type Page } from '../contract/pagination';
import type { ListSessionsInput, Session } from '../contract/sessions';
import type { DomainContext } from './context';
import { decodeCursor, makePage } from './cursors';
import { classifyRisk, findRiskRange } from './risk';

type SessionRow = typeof sessions.$inferSelect;

/** Finds one session (specification: GET /v1/sessions/{sessionId}). NOT_FOUND when unknown or of another integration. */
export async function getSession(context: DomainContext, input: { sessionId: string }): Promise<Session> {
  const [row] = await context.db.orm
    .select()
    .from(sessions)
    .where(and(eq(sessions.integrationId, context.integration.id), eq(sessions.id, input.sessionId)));
  if (!row) throw new ApiError('NOT_FOUND', 'Session not found');
  return showSession(context, row);
}

/** Lists sessions, newest first (specification: GET /v1/sessions; Pagination). */
export async function listSessions(context: DomainContext, input: ListSessionsInput): Promise<Page<Session>> {
  const { cursor, pageSize, ...filters } = input;
  const walk = { route: 'sessions', filters };
  const limit = clampPageSize(pageSize, context.integration.tier);
  const conditions = [eq(sessions.integrationId, context.integration.id), ...toConditions(context, filters)];
  if (cursor !== undefined) {
    const [createdAt, id] = decodeCursor(context, walk, cursor);
    conditions.push(sql`(${sessions.createdAt}, ${sessions.id}) < (${createdAt}, ${id})`);
  }
  const rows = await context.db.orm
    .select()
    .from(sessions)
    .where(and(...conditions))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(limit + 1);
  const show = (row: SessionRow) => showSession(context, row);
  return makePage(context, walk, rows, limit, show, (row) => [row.createdAt, row.id]);
}

function toConditions(context: DomainContext, filters: Omit<ListSessionsInput, 'cursor' | 'pageSize'>): SQL[] {
  const conditions: SQL[] = [];
  const { startDate, endDate, status, minBotScore, maxBotScore, riskLevel, detectionFlag, label } = filters;
  if (startDate) conditions.push(gte(sessions.createdAt, startDate));
  if (endDate) conditions.push(lt(sessions.createdAt, endDate));
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

function showSession({ integration }: DomainContext, row: SessionRow): Session {
  return {
    id: row.id,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    status: row.status,
    botScore: row.botScore,
    detectionFlags: row.detectionFlags,
    pageUrl: row.pageUrl,
    userAgentSummary: row.userAgentSummary,
    userId: row.userId,
    userName: null,
    userUrl: null,
    riskLevel: classifyRisk(row.effectiveBin, integration),
    label: null,
    courseId: row.courseId,
    deviceFingerprint: row.fingerprint,
    deviceType: row.deviceType,
    browser: row.browser,
    origin: row.origin,
    country: row.country,
    correlationConfidence: row.correlationConfidence,
  };
}
