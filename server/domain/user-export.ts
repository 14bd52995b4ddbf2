import { ApiError } from '../../contract/errors';
import {
  alerts,
  anomalies,
  auditEntries,
  deviceConfirmations,
  domainEvents,
  sessionCorrelations,
  writingScores,
} from '../../db/schema';
import { STAFF_DETAIL } from './audit-entries';
import type { DomainContext } from './context';
import { BY_MATCH, BY_TIME, type ExportSection, listMentions, listOfUser } from './exported-rows';
import { listSessionsOfUser } from './exported-sessions';
import { createMentionFinder } from './mentions';

// All that is held about a user, as JSON that is read from the database page by page.

/** Writes everything that is held about a user. NOT_FOUND for an unknown user, before the first piece. */
export async function* writeUserExport(
  context: DomainContext,
  userId: string,
): AsyncGenerator<string, void, undefined> {
  const id = context.integration.id;
  const [found] = await context.db.query<{ user: KnownRow | null; isKnown: boolean; now: string }>(READ_USER, [
    id,
    userId,
  ]);
  const { user, isKnown, now } = found!;
  if (!isKnown) throw new ApiError('NOT_FOUND', 'User not found');
  const finder = createMentionFinder(user ?? { id: userId, name: null, email: null, url: null });
  const exported = { context, userId, finder };
  yield `{"exportedAt":${JSON.stringify(now)},"user":${JSON.stringify(user)}`;
  for (const [name, section] of SECTIONS) {
    yield `,"${name}":[`;
    let separator = '';
    for await (const row of section(exported)) {
      if (typeof row === 'string') yield separator + row;
      else {
        yield separator;
        yield* row;
      }
      separator = ',';
    }
    yield ']';
  }
  yield '}';
}

interface KnownRow {
  id: string;
  name: string;
  email: string | null;
  url: string | null;
}

const READ_USER = `
  select (select row_to_json(u) from (select id, name, email, url from users where integration_id = $1 and id = $2) u) as user, now() as now,
         exists (select from users where integration_id = $1 and id = $2)
         or exists (select from device_confirmations where integration_id = $1 and user_id = $2)
         or exists (select from writing_scores where integration_id = $1 and user_id = $2)
         or exists (select from anomalies where integration_id = $1 and user_id = $2) as "isKnown"`;

const SECTIONS = new Map(
  Object.entries<ExportSection>({
    sessions: listSessionsOfUser,
    matches: listMentions({
      table: sessionCorrelations,
      text: "''",
      isOfUser: `t.user_id = $5 and not exists (
       select from sessions s where s.integration_id = $1 and s.id = t.session_id and s.user_id = $5)`,
      order: BY_MATCH,
    }),
    devices: listOfUser(deviceConfirmations, 't', ['first_confirmed_at', 'fingerprint']),
    anomalies: listOfUser(anomalies, 't', ['detected_at', 'id']),
    writing: listOfUser(writingScores, 't', ['scored_at', 'session_id']),
    alerts: listMentions({ table: alerts, text: "concat(t.message, ' ', t.url)" }),
    webhookEvents: listMentions({
      table: domainEvents,
      text: 't.payload',
      read: JSON.parse,
      // Of a session that somebody else had before them, not what is about that person.
      isOfUser: `coalesce(t.payload::json ->> 'userId', $5) = $5 and (t.payload::json ->> 'userId' = $5 or exists (
       select from sessions s where s.integration_id = $1 and s.id = t.payload::json ->> 'sessionId' and s.user_id = $5))`,
    }),
    auditEntries: listMentions({
      table: auditEntries,
      text: 't.details::text',
      read: JSON.parse,
      isOfUser: "t.subject_id = $5 and t.action like 'Device%'",
      more: `, t.details - '${STAFF_DETAIL}' as details`,
      order: BY_TIME,
    }),
  }),
);
