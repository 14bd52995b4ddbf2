import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { ApiError } from '../../contract/errors';
import { selectColumns } from '../../db/recordset';
import {
  alerts,
  anomalies,
  auditEntries,
  collectedSessions,
  deviceConfirmations,
  domainEvents,
  sessionCorrelations,
  sessionEvents,
  sessionScores,
  sessions,
  sessionVerdicts,
  writingScores,
} from '../../db/schema';
import { STAFF_DETAIL } from './audit-entries';
import type { DomainContext } from './context';
import { createMentionFinder, type MentionFinder, mayMention } from './mentions';

// All that is held about a user, as JSON that is read from the database page by page.

const PAGE_ROWS = 50;
/** Each with the first rows of its events, scores and the like. */
const PAGE_SESSIONS = 4;
/** A visitor can make any number of events, and a script of labels, so that no statement could read all of them in time. */
const PART_ROWS = 200;
/** A statement looks through so many rows, or up to the row with which their texts have so many bytes. */
const SCANNED_ROWS = 2_000;
const SCANNED_BYTES = 4 * 1024 * 1024;

interface Exported {
  context: DomainContext;
  userId: string;
  finder: MentionFinder;
}

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

/** Rows as JSON, long ones in pieces. */
type Section = (exported: Exported) => AsyncIterable<string | AsyncIterable<string>>;

/** A row as JSON, and where the walk goes on after it. */
interface Row {
  json: string;
  key: string[];
}

/** The next rows of a session in another table, and the key of the last one if there may be more. */
interface PartRows {
  rows: string | null;
  last: string | null;
}

/** Columns that say what staff or a key did: they are not the user's data. */
const OF_STAFF = ['labeledBy', 'actorId', 'actorName', 'confirmedBy', 'acknowledgedBy', 'resolvedBy', 'clientAddress'];
/** Columns that say nothing to anybody outside. */
const INTERNAL = [
  'integrationId',
  'entry',
  'key',
  'digests',
  'progress',
  'addressHash',
  'version',
  'dueAt',
  'judgedAt',
  'naturalKey',
  'skips',
  // The section of the audit entries adds them, without who of the staff it was.
  'details',
];

/** The columns of a table that belong into the file. */
function show(table: PgTable, alias: string): string {
  const names = Object.keys(getTableColumns(table)).filter((name) => ![...OF_STAFF, ...INTERNAL].includes(name));
  return selectColumns(table, alias, names as never[]);
}

/** Walks the rows of a user, page by page along an index on `user_id` and the two columns of `key`. */
function walkOfUser<Found extends Row>(
  table: PgTable,
  alias: string,
  key: [first: string, second: string],
  { more = '', pageRows = PAGE_ROWS } = {},
): (exported: Exported) => AsyncIterable<Found> {
  const [first, second] = key.map((column) => `${alias}.${column}`);
  const read = (condition: string) => `
    select row_to_json(shown)::text as json, array[${first}::text, ${second}::text] as key ${more}
      from ${getTableConfig(table).name} ${alias} cross join lateral (select ${show(table, alias)}) shown
     where ${alias}.integration_id = $1 and ${alias}.user_id = $2 ${condition}
     order by ${first}, ${second} limit ${pageRows}`;
  const begin = read('');
  const goOn = read(`and (${first}, ${second}) > ($3::timestamptz, $4)`);
  return async function* ({ context, userId }) {
    let key: string[] = [];
    for (let count = pageRows; count === pageRows; ) {
      const parameters = [context.integration.id, userId, ...key];
      const rows = await context.db.query<Found>(key.length === 0 ? begin : goOn, parameters);
      yield* rows;
      key = rows.at(-1)?.key ?? [];
      count = rows.length;
    }
  };
}

function listOfUser(...walk: Parameters<typeof walkOfUser>): Section {
  const walkRows = walkOfUser(...walk);
  return async function* (exported) {
    for await (const { json } of walkRows(exported)) yield json;
  };
}

/** What a session `s` has in another table, in the order of a column that tells its rows apart. */
function partOf(table: PgTable, order: string, condition = 'true', session = 'session_id') {
  const column = getTableColumns(table)[order]!;
  const place = `t.${column.name}`;
  const read = (isNext: string) => `
    select string_agg(json, ',' order by place) as rows,
           case when count(*) = ${PART_ROWS} then max(place)::text end as last
      from (select row_to_json(n)::text as json, ${place} as place
              from ${getTableConfig(table).name} t cross join lateral (select ${show(table, 't')}) n
             where t.integration_id = s.integration_id and t.${session} = s.id and ${condition} ${isNext}
             order by ${place} limit ${PART_ROWS}) found`;
  const next = `
    select part.* from sessions s cross join lateral (${read(`and ${place} > $3::${column.getSQLType()}`)}) part
     where s.integration_id = $1 and s.id = $2`;
  return { first: read(''), next };
}

/** Whether a session was never another user's: else nobody can tell whose a text is that names no user. */
const IS_OF_NOBODY_ELSE = `not exists (
  select from session_correlations c
   where c.integration_id = s.integration_id and c.session_id = s.id and c.user_id <> s.user_id)`;

const SESSION_PARTS = {
  events: partOf(sessionEvents, 'sequence'),
  scores: partOf(sessionScores, 'scoredAt'),
  matches: partOf(sessionCorrelations, 'correlatedAt', 't.user_id = s.user_id'),
  verdicts: partOf(sessionVerdicts, 'entry'),
  anomalies: partOf(anomalies, 'id', 't.user_id is null'),
  writing: partOf(writingScores, 'sessionId', `t.user_id is null and ${IS_OF_NOBODY_ELSE}`, 'browsing_session_id'),
  collected: partOf(collectedSessions, 'createdAt'),
};
type PartName = keyof typeof SESSION_PARTS;
const PART_NAMES = Object.keys(SESSION_PARTS) as PartName[];

type SessionRow = Row & { id: string } & Record<PartName, PartRows>;

const walkSessionsOfUser = walkOfUser<SessionRow>(sessions, 's', ['created_at', 'id'], {
  more: `, s.id${PART_NAMES.map((name) => `, (select to_json(part) from (${SESSION_PARTS[name].first}) part) as "${name}"`).join('')}`,
  pageRows: PAGE_SESSIONS,
});

async function* listSessionsOfUser(exported: Exported) {
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
      const parameters: string[] = [context.integration.id, session.id, part.last];
      [part] = await context.db.query<PartRows>(SESSION_PARTS[name].next, parameters);
      if (part?.rows) yield ',';
    }
    yield ']';
  }
  yield '}';
}

interface Mentions {
  table: PgTable;
  /** All that may mention the user, as SQL. */
  text: string;
  /** Reads the text, if it is no prose. */
  read?: (text: string) => unknown;
  /** Which rows are the user's without a mention, as SQL. `$5` is their id. */
  isOfUser?: string;
  more?: string;
  /** The order of the walk, which an index of the table has after `integration_id`. */
  order?: Order;
}

/** Columns as SQL, how they are kept, and how they are read from `parameter`. */
interface Order {
  columns: string;
  asTexts: string;
  first: string[];
  readFrom(parameter: string): string;
}

const BY_ID: Order = {
  ...{ columns: 't.id', asTexts: 't.id', first: [''] },
  readFrom: (parameter) => `${parameter}::text::json ->> 0`,
};
const BY_MATCH: Order = {
  ...{
    columns: 't.session_id, t.correlated_at',
    asTexts: 't.session_id, t.correlated_at::text',
    first: ['', '-infinity'],
  },
  readFrom: (parameter) => `${parameter}::text::json ->> 0, (${parameter}::text::json ->> 1)::timestamptz`,
};
const BY_TIME: Order = {
  ...{ columns: 't.occurred_at, t.id', asTexts: 't.occurred_at::text, t.id', first: ['-infinity', ''] },
  readFrom: (parameter) => `(${parameter}::text::json ->> 0)::timestamptz, ${parameter}::text::json ->> 1`,
};

/** Reads all rows of the integration in slices, and keeps those that mention the user. */
function listMentions({
  table,
  text,
  read: readText = String,
  isOfUser = 'false',
  more = '',
  order = BY_ID,
}: Mentions): Section {
  const { columns, asTexts, first, readFrom } = order;
  const name = getTableConfig(table).name;
  const end = `
    select key from (
      select array[${asTexts}] as key, row_number() over scanned as row, sum(octet_length(${text})) over scanned as bytes
        from (select * from ${name} t where t.integration_id = $1 and (${columns}) > (${readFrom('$2')})
               order by ${columns} limit ${SCANNED_ROWS}) t
      window scanned as (order by ${columns})) s
     where row = ${SCANNED_ROWS} or bytes > ${SCANNED_BYTES} order by row limit 1`;
  const read = `
    select row_to_json(shown)::text as json, ${text.replaceAll('t.', 'shown.')} as text, (${isOfUser}) as "isOfUser"
      from ${name} t cross join lateral (select ${show(table, 't')} ${more}) shown
     where t.integration_id = $1 and (${columns}) > (${readFrom('$2')})
       and ($3::text is null or (${columns}) <= (${readFrom('$3')}))
       and (${mayMention(text, '$4')} or $5::text is null or ${isOfUser})
     order by ${columns}`;
  return async function* ({ context, userId, finder }) {
    const { id } = context.integration;
    for (let after: string[] | undefined = first; after; ) {
      const from: string = JSON.stringify(after);
      const [last]: { key: string[] }[] = await context.db.query(end, [id, from]);
      const until = last ? JSON.stringify(last.key) : null;
      const rows = await context.db.query<{ json: string; text: string; isOfUser: boolean }>(read, [
        ...[id, from, until, finder.patterns, userId],
      ]);
      for (const { json, text: found, isOfUser } of rows) if (isOfUser || finder.isIn(readText(found))) yield json;
      after = last?.key;
    }
  };
}

const SECTIONS = new Map(
  Object.entries<Section>({
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
