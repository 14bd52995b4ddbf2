import { parsePgArray } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import * as schema from './schema';
import { socketOption } from './socket';

export type Sql = postgres.Sql;
export type Transaction = Parameters<Parameters<PostgresJsDatabase<typeof schema>['transaction']>[0]>[0];

type Values = postgres.ParameterOrJSON<never>[];

/** Runs a statement that is written out as text, prepared once per connection where the connection is ours alone. */
export type Query = <Row extends object>(text: string, parameters: Values) => Promise<Row[]>;

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
   * first, and its commit with what is sent through `commitWith`, which is the last.
   */
  transact<Result>(work: (query: Query, commitWith: Query) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

const TIMESTAMPTZ_OID = 1184;
const TEXT_ARRAY_OID = 1009;

/** Opens the pool. `isPooled`: behind a transaction pooler, where nothing may outlive a transaction. */
export function openDatabase(options: {
  url: string;
  maxConnections: number;
  isPooled?: boolean;
  onNotice?: (message: string) => void;
}): Database {
  const sql = postgres(options.url, {
    ...socketOption(options.url),
    max: options.maxConnections,
    prepare: !options.isPooled,
    // It would ask each new connection for them, and end the process when that breaks at this very moment.
    fetch_types: false,
    connect_timeout: 5,
    connection: { application_name: 'bot-detection', TimeZone: 'UTC' },
    onnotice: (notice) => options.onNotice?.(String(notice.message)),
    // Whole seconds of jitter-free backoff would leave a recovered database unused for long.
    backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 2),
  });
  const orm = drizzle(sql, { schema });
  // Drizzle hands timestamps through as Postgres prints them; the wire form serves everywhere.
  sql.options.parsers[TIMESTAMPTZ_OID] = readInstant;
  sql.options.parsers[TEXT_ARRAY_OID] = parsePgArray;
  // `unsafe` prepares only what it is told to, and sends only what is executed or awaited.
  const createQuery =
    (on: Sql): Query =>
    <Row extends object>(text: string, parameters: Values) =>
      on.unsafe<Row[]>(text, parameters, { prepare: !options.isPooled }).execute();

  async function transact<Result>(work: (query: Query, commitWith: Query) => Promise<Result>): Promise<Result> {
    const connection = await sql.reserve();
    const query = createQuery(connection);
    let isEnded = false;
    const end = (how: 'commit' | 'rollback') => {
      isEnded = true;
      return connection.unsafe(how).execute();
    };
    try {
      // Where it fails, so do those behind it.
      connection
        .unsafe('begin')
        .execute()
        .catch(() => {});
      const result = await work(query, async <Row extends object>(text: string, parameters: Values) => {
        const rows = query<Row>(text, parameters);
        // The commit of a transaction that failed rolls it back.
        await Promise.all([rows, end('commit')]);
        return rows;
      });
      if (!isEnded) await end('commit');
      return result;
    } catch (error) {
      if (!isEnded) await end('rollback').catch(() => {});
      throw error;
    } finally {
      connection.release();
    }
  }

  return {
    orm,
    sql,
    query: createQuery(sql),
    transact,
    close: () => sql.end({ timeout: 5 }),
  };
}

/** `2026-01-31 09:30:00.5+00` as `2026-01-31T09:30:00.500Z`. As ISO, since Date guesses the century of other spellings. */
function readInstant(printed: string): string {
  const iso = printed.replace(' ', 'T');
  return new Date(/[+-]\d\d$/.test(iso) ? `${iso}:00` : iso).toISOString();
}

const UNAVAILABLE_CODES = new Set([
  // The network and postgres.js.
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['CONNECT_TIMEOUT', 'CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED'],
  // Postgres: shutting down, starting up, out of connections, the database taken away (a backup is being restored).
  ...['57P01', '57P02', '57P03', '53300', '08000', '08003', '08006', '3D000'],
]);

/** Whether an error, or what caused it, says that the database cannot be reached at the moment. */
export function isUnavailable(error: unknown): boolean {
  for (let e = error; e instanceof Object; e = (e as { cause?: unknown }).cause) {
    if (UNAVAILABLE_CODES.has(String((e as { code?: unknown }).code))) return true;
  }
  return false;
}
