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
/** Each with its events and scores, of which a long session has thousands. */
const PAGE_SESSIONS = 4;
const SCANNED_ROWS = 2_000;

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
      yield separator + row;
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

type Section = (exported: Exported) => AsyncIterable<string>;

/** A row as JSON, and where the walk goes on after it. */
interface Row {
  json: string;
  key: string[];
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

/** Reads the rows of a user, page by page along an index on `user_id` and the two columns of `key`. */
function listOfUser(
  table: PgTable,
  alias: string,
  key: [first: string, second: string],
  { more = '', pageRows = PAGE_ROWS } = {},
): Section {
  const [first, second] = key.map((column) => `${alias}.${column}`);
  const read = (condition: string) => `
    select row_to_json(shown)::text as json, array[${first}::text, ${second}::text] as key
      from ${getTableConfig(table).name} ${alias} cross join lateral (select ${show(table, alias)} ${more}) shown
     where ${alias}.integration_id = $1 and ${alias}.user_id = $2 ${condition}
     order by ${first}, ${second} limit ${pageRows}`;
  const begin = read('');
  const goOn = read(`and (${first}, ${second}) > ($3::timestamptz, $4)`);
  return async function* ({ context, userId }) {
    let key: string[] = [];
    for (let count = pageRows; count === pageRows; ) {
      const parameters = [context.integration.id, userId, ...key];
      const rows = await context.db.query<Row>(key.length === 0 ? begin : goOn, parameters);
      for (const { json } of rows) yield json;
      key = rows.at(-1)?.key ?? [];
      count = rows.length;
    }
  };
}

/** The rows of a session in another table, as a JSON array. */
const nested = (name: string, table: PgTable, order: string, condition = 'true') => `,
  (select coalesce(json_agg(row_to_json(n) order by t.${order}), '[]')
     from ${getTableConfig(table).name} t cross join lateral (select ${show(table, 't')}) n
    where t.integration_id = s.integration_id and t.session_id = s.id and ${condition}) as "${name}"`;

const SESSION_PARTS = [
  nested('events', sessionEvents, 'sequence'),
  nested('scores', sessionScores, 'scored_at'),
  nested('matches', sessionCorrelations, 'correlated_at', 't.user_id = $2'),
  nested('verdicts', sessionVerdicts, 'entry'),
  nested('anomalies', anomalies, 'id', 't.user_id is null'),
  nested('collected', collectedSessions, 'created_at'),
].join('');

interface Mentions {
  table: PgTable;
  /** All that may mention the user, as SQL. */
  text: string;
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
const BY_TIME: Order = {
  ...{ columns: 't.occurred_at, t.id', asTexts: 't.occurred_at::text, t.id', first: ['-infinity', ''] },
  readFrom: (parameter) => `(${parameter}::text::json ->> 0)::timestamptz, ${parameter}::text::json ->> 1`,
};

/** Reads all rows of the integration in slices, and keeps those that mention the user. */
function listMentions({ table, text, isOfUser = 'false', more = '', order = BY_ID }: Mentions): Section {
  const { columns, asTexts, first, readFrom } = order;
  const name = getTableConfig(table).name;
  const end = `
    select array[${asTexts}] as key from ${name} t
     where t.integration_id = $1 and (${columns}) > (${readFrom('$2')})
     order by ${columns} offset ${SCANNED_ROWS - 1} limit 1`;
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
      for (const { json, text: found, isOfUser } of rows) if (isOfUser || finder.replace(found) !== found) yield json;
      after = last?.key;
    }
  };
}

const SECTIONS = new Map(
  Object.entries<Section>({
    sessions: listOfUser(sessions, 's', ['created_at', 'id'], { more: SESSION_PARTS, pageRows: PAGE_SESSIONS }),
    devices: listOfUser(deviceConfirmations, 't', ['first_confirmed_at', 'fingerprint']),
    anomalies: listOfUser(anomalies, 't', ['detected_at', 'id']),
    writing: listOfUser(writingScores, 't', ['scored_at', 'session_id']),
    alerts: listMentions({ table: alerts, text: "concat(t.message, ' ', t.url)" }),
    webhookEvents: listMentions({
      table: domainEvents,
      text: 't.payload',
      isOfUser: `t.payload::json ->> 'userId' = $5 or exists (
       select from sessions s where s.integration_id = $1 and s.id = t.payload::json ->> 'sessionId' and s.user_id = $5)`,
    }),
    auditEntries: listMentions({
      table: auditEntries,
      text: "concat(t.details::text, ' ')",
      isOfUser: "t.subject_id = $5 and t.action like 'Device%'",
      more: `, t.details - '${STAFF_DETAIL}' as details`,
      order: BY_TIME,
    }),
  }),
);
