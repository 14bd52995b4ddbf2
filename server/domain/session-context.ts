import type { DeviceUser, RelatedSession, SessionContext, SketchedSession } from '../../contract/session-context';
import type { Session } from '../../contract/sessions';
import type { DomainContext } from './context';
import { showLabel } from './labels';
import { classifyRisk } from './risk';
import { type ListedSession, walkSessions } from './session-walks';
import { getSession } from './sessions';

// Each part is a stretch of one index, and no part reads more than its limit: a device or a course may have any number of sessions.

const MAX_EARLIER = 12;
const MAX_NEIGHBOURS = 20;
const MAX_DEVICE_USERS = 20;
/** Sessions are counted up to here. */
const MAX_COUNTED = 200;
/** The users of a device are those of so many of its latest sessions. */
const MAX_DEVICE_SESSIONS = 500;

const MINUTE_MS = 60_000;

/**
 * Reads what a reviewer compares a session with: earlier sessions of its user, other users of its device, and sessions of its
 * course that began in the same minute. NOT_FOUND as getSession.
 */
export async function getSessionContext(
  context: DomainContext,
  { sessionId }: { sessionId: string },
): Promise<SessionContext> {
  const session = await getSession(context, { sessionId });
  const [earlier, device, neighbours] = await Promise.all([
    readEarlier(context, session),
    readDevice(context, session),
    readNeighbours(context, session),
  ]);
  return { earlier, device, neighbours };
}

async function readEarlier(context: DomainContext, session: Session): Promise<SessionContext['earlier']> {
  const { userId, createdAt, id } = session;
  if (userId === null) return null;
  const limit = MAX_COUNTED + 1;
  const found = await walkSessions(context, { userId }, { after: [createdAt, id], rows: limit, budget: limit });
  const shown = found.slice(0, MAX_EARLIER);
  return { userId, sessions: await sketch(context, shown), ...count(found) };
}

async function readDevice(context: DomainContext, session: Session): Promise<SessionContext['device']> {
  const { deviceFingerprint: fingerprint, userId: ownId } = session;
  if (fingerprint === null) return null;
  const limit = MAX_DEVICE_SESSIONS + 1;
  const found = await walkSessions(context, { fingerprint }, { after: null, rows: limit, budget: limit });
  const read = found.slice(0, MAX_DEVICE_SESSIONS);
  const users = new Map<string, DeviceUser>();
  for (const { userId, userName, createdAt } of read) {
    if (userId === null || userId === ownId) continue;
    const user = users.get(userId);
    // The latest session comes first.
    if (user) user.sessionCount += 1;
    else users.set(userId, { userId, userName, sessionCount: 1, lastSeenAt: createdAt });
  }
  return {
    fingerprint,
    users: [...users.values()].sort((a, b) => b.sessionCount - a.sessionCount).slice(0, MAX_DEVICE_USERS),
    userCount: users.size,
    unmatchedCount: read.filter(({ userId }) => userId === null).length,
    sessionCount: read.length,
    hasMoreSessions: found.length > read.length,
  };
}

async function readNeighbours(context: DomainContext, session: Session): Promise<SessionContext['neighbours']> {
  const { courseId, createdAt, id } = session;
  if (courseId === null) return null;
  const fromMs = Math.floor(Date.parse(createdAt) / MINUTE_MS) * MINUTE_MS;
  const [from, to] = [new Date(fromMs).toISOString(), new Date(fromMs + MINUTE_MS).toISOString()];
  const bound = (at: string) => ({ at, isWholeDay: false });
  // The session itself, and one more than is counted.
  const limit = MAX_COUNTED + 2;
  const filters = { courseId, startDate: bound(from), endDate: bound(to) };
  const found = await walkSessions(context, filters, { after: null, rows: limit, budget: limit });
  const others = found.filter((other) => other.id !== id);
  const shown = others.slice(0, MAX_NEIGHBOURS).map((one) => showRelated(context, one));
  return { courseId, from, to, sessions: shown, ...count(others) };
}

const count = (found: ListedSession[]) => ({
  total: Math.min(found.length, MAX_COUNTED),
  hasMore: found.length > MAX_COUNTED,
});

const showRelated = ({ integration }: DomainContext, session: ListedSession): RelatedSession => ({
  id: session.id,
  createdAt: session.createdAt,
  userId: session.userId,
  userName: session.userName,
  botScore: session.botScore,
  riskLevel: classifyRisk(session.effectiveBin, integration),
  verdict: showLabel(session)?.verdict ?? null,
});

/** So many bars has the sketch of a session. */
const PARTS = 24;
/** So many rows of events of a session are read for its sketch. */
const MAX_SKETCHED_EVENTS = 1_000;

interface SketchRow {
  id: string;
  durationSeconds: number;
  parts: { part: number; events: number }[];
}

async function sketch(context: DomainContext, sessions: ListedSession[]): Promise<SketchedSession[]> {
  if (sessions.length === 0) return [];
  const ids = sessions.map(({ id }) => id);
  const rows = await context.db.query<SketchRow>(SKETCH, [context.integration.id, JSON.stringify(ids)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return sessions.map((session) => {
    const { durationSeconds, parts } = byId.get(session.id) ?? { durationSeconds: 0, parts: [] };
    const activity = Array.from({ length: PARTS }, () => 0);
    for (const { part, events } of parts) activity[part] = events;
    return { ...showRelated(context, session), durationSeconds, activity };
  });
}

/** Events before the start count in the first part, events after the end in the last. */
const SKETCH = `
  select k.id, span.seconds as "durationSeconds",
         (select coalesce(json_agg(p), '[]') from (
            select least(${PARTS - 1}, greatest(0, floor(${PARTS} * at / greatest(span.seconds, 0.001))))::int as part,
                   sum(events)::float8 as events
              from unnest(e.seconds, e.counts) as one(at, events) group by 1) p) as parts
    from json_array_elements_text($2::text::json) k(id)
    cross join lateral (
      select created_at, closed_at from sessions s where s.integration_id = $1 and s.id = k.id limit 1) s
    cross join lateral (
      select array_agg(extract(epoch from timestamp - s.created_at)::float8) as seconds, array_agg(event_count) as counts,
             max(timestamp) as last_at
        from (select timestamp, event_count from session_events e
               where e.integration_id = $1 and e.session_id = k.id order by e.sequence limit ${MAX_SKETCHED_EVENTS}) e) e
    cross join lateral (
      select greatest(0, extract(epoch from coalesce(s.closed_at, e.last_at, s.created_at) - s.created_at))::float8
               as seconds) span`;
