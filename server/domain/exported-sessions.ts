import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import {
  anomalies,
  collectedSessions,
  sessionCorrelations,
  sessionEvents,
  sessionScores,
  sessions,
  sessionVerdicts,
  writingScores,
} from '../../db/schema';
import { type Exported, type Row, selectShown, walkOfUser } from './exported-rows';

// The sessions of a user as the export has them: each with its events, scores and the like, page by page.

/** Each with the first rows of its events, scores and the like. */
const PAGE_SESSIONS = 4;
/** A visitor can make any number of events, and a script of labels, so that no statement could read all of them in time. */
const PART_ROWS = 200;

/** The next rows of a session in another table, and the key of the last one if there may be more. */
interface PartRows {
  rows: string | null;
  last: string[] | null;
}

/** What a session `s` has in another table, in the order of the columns that tell its rows apart. */
function partOf(table: PgTable, key: string[], condition = 'true', session = 'session_id') {
  const columns = key.map((name) => getTableColumns(table)[name]!);
  const place = columns.map(({ name }) => `t.${name}`).join(', ');
  const asTexts = columns.map(({ name }) => `t.${name}::text`).join(', ');
  const last = columns.map((column, index) => `$${index + 3}::${column.getSQLType()}`).join(', ');
  const read = (isNext: string) => `
    select string_agg(json, ',' order by ${place}) as rows,
           (array_agg(json_build_array(${asTexts}) order by ${place}))[${PART_ROWS}] as last
      from (select row_to_json(n)::text as json, ${place}
              from ${getTableConfig(table).name} t cross join lateral (select ${selectShown(table, 't')}) n
             where t.integration_id = s.integration_id and t.${session} = s.id and ${condition} ${isNext}
             order by ${place} limit ${PART_ROWS}) t`;
  const next = `
    select part.* from sessions s cross join lateral (${read(`and (${place}) > (${last})`)}) part
     where s.integration_id = $1 and s.id = $2`;
  return { first: read(''), next };
}

/** Texts that name no user, if the session was never another user's: else nobody can tell whose they are. */
const NAMES_NOBODY = `t.user_id is null and not exists (
  select from session_correlations c
   where c.integration_id = s.integration_id and c.session_id = s.id and c.user_id <> s.user_id)`;

const SESSION_PARTS = {
  events: partOf(sessionEvents, ['sequence']),
  scores: partOf(sessionScores, ['scoredAt']),
  matches: partOf(sessionCorrelations, ['correlatedAt'], 't.user_id = s.user_id'),
  verdicts: partOf(sessionVerdicts, ['entry']),
  anomalies: partOf(anomalies, ['id'], 't.user_id is null'),
  writing: partOf(writingScores, ['scoredAt', 'sessionId'], NAMES_NOBODY, 'browsing_session_id'),
  collected: partOf(collectedSessions, ['createdAt']),
};
type PartName = keyof typeof SESSION_PARTS;
const PART_NAMES = Object.keys(SESSION_PARTS) as PartName[];

type SessionRow = Row & { id: string } & Record<PartName, PartRows>;

const walkSessionsOfUser = walkOfUser<SessionRow>(sessions, 's', ['created_at', 'id'], {
  more: `, s.id${PART_NAMES.map((name) => `, (select to_json(part) from (${SESSION_PARTS[name].first}) part) as "${name}"`).join('')}`,
  pageRows: PAGE_SESSIONS,
});

export async function* listSessionsOfUser(exported: Exported) {
  for await (const session of walkSessionsOfUser(exported)) yield writeSession(exported, session);
}

/** Writes a session with its parts, each page by page. */
async function* writeSession({ context }: Exported, session: SessionRow): AsyncGenerator<string> {
  yield session.json.slice(0, -1);
  for (const name of PART_NAMES) {
    yield `,"${name}":[`;
    let part: PartRows | undefined = session[name];
    while (part?.rows) {
      yield part.rows;
      if (part.last === null) break;
      const parameters: string[] = [context.integration.id, session.id, ...part.last];
      [part] = await context.db.query<PartRows>(SESSION_PARTS[name].next, parameters);
      if (part?.rows) yield ',';
    }
    yield ']';
  }
  yield '}';
}
