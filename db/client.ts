import { parsePgArray } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import { openLookUps } from './look-ups';
import { copyTypes, setParsers } from './postgres-internals';
import * as schema from './schema';
import { SESSION_SETTINGS } from './session-settings';
import { createQuery, openTransactions, type Query, type TransactOptions } from './transaction';
import { type Load, openWatch } from './watch';

export { findFaultLevel, isKnownOutage, isTimeout, isUnavailable, lacksRight } from './errors';
export type { Query } from './transaction';

export type Sql = postgres.Sql;
export type Transaction = Parameters<Parameters<PostgresJsDatabase<typeof schema>['transaction']>[0]>[0];

/**
 * The only pool of the process, with two interfaces: `orm` for queries that use the schema, `sql` for set-based statements
 * and for statements that run thousands of times a second (postgres.js prepares each text once per connection; Drizzle does
 * not). Both read instants as ISO 8601 strings in UTC. Pass lists and JSON to `sql` as JSON text.
 */
export interface Database {
  orm: PostgresJsDatabase<typeof schema>;
  sql: Sql;
  query: Query;
  /**
   * Runs a statement that finds a few rows along an index and hardly waits, for locks or for the disk. One that takes long
   * would hold up others on its connection.
   */
  lookUp: Query;
  /**
   * Runs statements in one transaction. Statements that are not awaited in between are sent together. `begin` is sent with
   * the first statement. `commitWith` sends the last statement together with the commit. Each running transaction has its
   * own connection, in addition to those of the pool.
   */
  transact<Result>(
    work: (query: Query, commitWith: Query) => Promise<Result>,
    options?: TransactOptions,
  ): Promise<Result>;
  /** Counts the pending statements and open connections. */
  load(): Load;
  close(): Promise<void>;
}

/** How many statements may wait for each connection. postgres.js sends 100 before the first one is answered. */
const MAX_ASKED_EACH = 200;
/** Postgres ends a statement at its limit. If it does not, we do so this much later. */
const LATE_MS = 500;
/** Postgres ends a transaction whose process sends nothing for so long: a paused process would keep its locks. */
const IDLE_LIMIT_MS = 10_000;

const TIMESTAMPTZ_OID = 1184;
const TEXT_ARRAY_OID = 1009;
const BYTEA_OID = 17;

/**
 * Opens the pool, and one connection more for look-ups when the first one is sent. `isPooled`: the database is behind a transaction
 * pooler, where no session state outlives a transaction.
 */
export function openDatabase(options: {
  url: string;
  maxConnections: number;
  isPooled?: boolean;
  /** The time limit of a statement outside of `transact`. If unset, there is none. */
  statementLimitMs?: number;
  onNotice?: (message: string) => void;
  /** Called with the reason when the database becomes unavailable, and with null when it is available again. */
  onOutage?: (fault: unknown) => void;
}): Database {
  const { maxConnections, statementLimitMs } = options;
  // A pooler does not accept limits as settings of a connection.
  const limits = options.isPooled ? {} : { ...SESSION_SETTINGS, idle_in_transaction_session_timeout: IDLE_LIMIT_MS };
  const startup = { application_name: 'bot-detection', TimeZone: 'UTC', DateStyle: 'ISO', ...limits };
  const watch = openWatch({
    url: options.url,
    onChange: (fault) => options.onOutage?.(fault),
    defaults: {
      prepare: !options.isPooled,
      // postgres.js would query the types on each new connection. If the connection breaks during that query, it ends the
      // process.
      fetch_types: false,
      // The watch notices sooner if the database is away. This timer also runs while the process is blocked, for example because it loads
      // a route. It then ends a connection although the answers have arrived.
      connect_timeout: 10,
      connection: startup,
      onnotice: (notice) => options.onNotice?.(String(notice.message)),
      // The default backoff waits whole seconds, during which a recovered database would stay unused.
      backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 0.4),
    },
  });
  // Postgres ends statements that take too long. Behind a pooler, we close the connection.
  const isLimited = statementLimitMs !== undefined && !options.isPooled;
  const openPool = (max: number) =>
    watch.open(
      { max, ...(isLimited ? { connection: { ...startup, statement_timeout: statementLimitMs } } : {}) },
      {
        limitMs: () => (statementLimitMs === undefined ? null : statementLimitMs + LATE_MS),
        maxAsked: max * MAX_ASKED_EACH,
        // PgBouncer takes the connection to Postgres away after each answer, and loses what comes for a statement that was begun before.
        isSerial: options.isPooled ?? false,
      },
    );
  const sql = openPool(maxConnections);
  const orm = drizzle(sql, { schema });
  // Drizzle returns timestamps as Postgres prints them. We read them in the wire format everywhere.
  const parsers = setParsers(sql, {
    [TIMESTAMPTZ_OID]: readInstant,
    [TEXT_ARRAY_OID]: parsePgArray,
    [BYTEA_OID]: readBytes,
  });
  const query = createQuery(sql);
  const lookUps = openPool(1);
  copyTypes(sql, lookUps);
  const transactions = openTransactions(
    watch,
    (more, line) => {
      const own = watch.open(more, line);
      setParsers(own, parsers);
      return own;
    },
    options.isPooled ?? false,
  );
  return {
    orm,
    sql,
    query,
    lookUp: openLookUps(createQuery(lookUps), query),
    transact: transactions.transact,
    load: watch.load,
    close: async () => {
      await Promise.all([transactions.close(), sql.end({ timeout: 5 }), lookUps.end({ timeout: 5 })]);
      watch.close();
    },
  };
}

/**
 * Converts `2026-01-31 09:30:00.5+00` to `2026-01-31T09:30:00.500Z`. Our connections ask for UTC; such text is cut by
 * position, because a page has hundreds of instants and Date takes six times as long. Other text is parsed as ISO 8601,
 * because Date guesses the century of other formats.
 */
function readInstant(printed: string): string {
  if (printed[10] === ' ' && printed.endsWith('+00')) {
    const millis = printed.slice(20, -3).padEnd(3, '0').slice(0, 3);
    return `${printed.slice(0, 10)}T${printed.slice(11, 19)}.${millis}Z`;
  }
  const iso = printed.replace(' ', 'T');
  return new Date(/[+-]\d\d$/.test(iso) ? `${iso}:00` : iso).toISOString();
}

/** Reads both formats of `bytea_output`, which behind a pooler is what the role or the database has set. */
function readBytes(printed: string): Buffer {
  if (printed.startsWith('\\x')) return Buffer.from(printed.slice(2), 'hex');
  const characters = printed.replace(/\\(\\|[0-3][0-7]{2})/g, (_, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8)),
  );
  return Buffer.from(characters, 'latin1');
}

/** Counts the migrations that were applied to the database; 0 if it belongs to another region, so that none was for this one. */
export async function countMigrations(db: Database, region: string): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    'select count(*)::int as n from drizzle.__drizzle_migrations where exists (select from meta where region = $1)',
    [region],
  );
  return row!.n;
}
