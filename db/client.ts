import { parsePgArray } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import { setParsers } from './postgres-internals';
import * as schema from './schema';
import { createQuery, openTransactions, type Query, type TransactOptions } from './transaction';
import { type Load, openWatch } from './watch';

export { isKnownOutage, isUnavailable } from './errors';
export type { Query } from './transaction';

export type Sql = postgres.Sql;
export type Transaction = Parameters<Parameters<PostgresJsDatabase<typeof schema>['transaction']>[0]>[0];

/**
 * The process's one pool, seen twice: `orm` for queries by the schema, `sql` for set-based statements and for what runs
 * thousands of times a second (postgres.js prepares each text once per connection; Drizzle does not).
 * Instants are ISO 8601 strings in UTC in both; lists and JSON are given to `sql` as JSON text.
 */
export interface Database {
  orm: PostgresJsDatabase<typeof schema>;
  sql: Sql;
  query: Query;
  /**
   * Runs statements in one transaction. Those that are not awaited in between travel together; its begin goes with the
   * first, and its commit with what is sent through `commitWith`, which is the last. Each one under way has a connection
   * of its own besides the pool's.
   */
  transact<Result>(
    work: (query: Query, commitWith: Query) => Promise<Result>,
    options?: TransactOptions,
  ): Promise<Result>;
  /** What is asked at the moment. */
  load(): Load;
  close(): Promise<void>;
}

/** What a connection of postgres.js takes before it is answered; beyond that statements would pile up in the process. */
const MAX_PIPELINE = 100;
/** How much later than Postgres we end a statement. */
const LATE_MS = 500;

const TIMESTAMPTZ_OID = 1184;
const TEXT_ARRAY_OID = 1009;

/** Opens the pool. `isPooled`: behind a transaction pooler, where nothing may outlive a transaction. */
export function openDatabase(options: {
  url: string;
  maxConnections: number;
  isPooled?: boolean;
  /** What a statement outside of `transact` may take; unset: any time. */
  statementLimitMs?: number;
  onNotice?: (message: string) => void;
  /** Is told when the database goes away, and why, and when it is back (null). */
  onOutage?: (fault: unknown) => void;
}): Database {
  const { maxConnections, statementLimitMs } = options;
  const startup = { application_name: 'bot-detection', TimeZone: 'UTC' };
  const watch = openWatch({
    url: options.url,
    onChange: (fault) => options.onOutage?.(fault),
    defaults: {
      prepare: !options.isPooled,
      // It would ask each new connection for them, and end the process when that breaks at this very moment.
      fetch_types: false,
      connect_timeout: 2,
      connection: startup,
      onnotice: (notice) => options.onNotice?.(String(notice.message)),
      // Whole seconds of jitter-free backoff would leave a recovered database unused for long.
      backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 0.4),
    },
  });
  // Postgres itself ends what takes too long; a pooler takes no such wish, and there the connection is ended.
  const isLimited = statementLimitMs !== undefined && !options.isPooled;
  const sql = watch.open(
    {
      max: maxConnections,
      ...(isLimited ? { connection: { ...startup, statement_timeout: statementLimitMs } } : {}),
    },
    {
      limitMs: () => (statementLimitMs === undefined ? null : statementLimitMs + LATE_MS),
      maxAsked: maxConnections * MAX_PIPELINE,
    },
  );
  const orm = drizzle(sql, { schema });
  // Drizzle hands timestamps through as Postgres prints them; the wire form serves everywhere.
  const parsers = setParsers(sql, { [TIMESTAMPTZ_OID]: readInstant, [TEXT_ARRAY_OID]: parsePgArray });
  const transactions = openTransactions(watch, (more, line) => {
    const own = watch.open(more, line);
    setParsers(own, parsers);
    return own;
  });
  return {
    orm,
    sql,
    query: createQuery(sql),
    transact: transactions.transact,
    load: watch.load,
    close: async () => {
      await Promise.all([transactions.close(), sql.end({ timeout: 5 })]);
      watch.close();
    },
  };
}

/**
 * `2026-01-31 09:30:00.5+00` as `2026-01-31T09:30:00.500Z`. By its places where it is printed in UTC, as connections ask for:
 * a page has hundreds of them, and Date costs six times as much. Otherwise as ISO, since Date guesses the century of other
 * spellings.
 */
function readInstant(printed: string): string {
  if (printed[10] === ' ' && printed.endsWith('+00')) {
    const millis = printed.slice(20, -3).padEnd(3, '0').slice(0, 3);
    return `${printed.slice(0, 10)}T${printed.slice(11, 19)}.${millis}Z`;
  }
  const iso = printed.replace(' ', 'T');
  return new Date(/[+-]\d\d$/.test(iso) ? `${iso}:00` : iso).toISOString();
}

/** Counts the migrations that a database has. */
export async function countMigrations(db: Database): Promise<number> {
  const [row] = await db.query<{ n: number }>('select count(*)::int as n from drizzle.__drizzle_migrations', []);
  return row!.n;
}
