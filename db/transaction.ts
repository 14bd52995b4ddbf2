import postgres from 'postgres';
import { isUnavailable } from './errors';
import { STALE_MS } from './renewal';
import { LIFT_TRANSACTION_LIMIT } from './session-settings';
import type { LineOptions, Watch } from './watch';

type Values = postgres.ParameterOrJSON<never>[];

/** Runs a statement given as text. Unless a pooler shares the connection, the statement is prepared once per connection. */
export type Query = <Row extends object>(text: string, parameters: Values) => Promise<Row[]>;

/** Creates a Query. `unsafe` prepares a statement only with `prepare`, and sends it only when it is executed or awaited. */
export const createQuery =
  (sql: postgres.Sql): Query =>
  <Row extends object>(text: string, parameters: Values) =>
    sql.unsafe<Row[]>(text, parameters, { prepare: sql.options.prepare }).execute();

export interface Transactions {
  /** See `Database`. */
  transact<Result>(work: Work<Result>, options?: TransactOptions): Promise<Result>;
  close(): Promise<void>;
}

type Work<Result> = (query: Query, commitWith: Query) => Promise<Result>;

export interface TransactOptions {
  /** For background work on any number of rows: its statements have no time limit. */
  isLong?: boolean;
}

/** The time limit of a statement that a caller waits for. Large batches of facts take seconds. */
const LIMIT_MS = 8_000;

/** A connection that one transaction uses at a time. */
interface Connection {
  sql: postgres.Sql;
  query: Query;
  /** The connection was lost. The next statement would open another one and run there, outside of the transaction. */
  isLost: boolean;
  limitMs: number | null;
  /** When its last transaction ended. */
  freeSince: number;
}

/**
 * Opens connections for transactions, as many as run at the same time. So it is only for transactions whose number is bounded.
 * Neither way of postgres.js to take a connection of its pool serves: `begin` waits separately for the answers to `begin` and
 * `commit`, and `reserve` never resolves if it has to connect first (3.4.9, without `fetch_types`).
 */
export function openTransactions(
  watch: Watch,
  connect: (options: postgres.Options<never>, line: LineOptions) => postgres.Sql,
  isPooled: boolean,
): Transactions {
  const idle: Connection[] = [];
  const all = new Set<Connection>();

  function openConnection(): Connection {
    const onclose = () => {
      connection.isLost = true;
    };
    // Without a maximum lifetime, postgres.js does not close the connection between two statements.
    const sql = connect({ max: 1, max_lifetime: null, onclose }, { limitMs: () => connection.limitMs, isSingle: true });
    const connection: Connection = { sql, query: createQuery(sql), isLost: false, limitMs: null, freeSince: 0 };
    all.add(connection);
    return connection;
  }

  /**
   * Takes an idle connection or opens one. A lost one is not used again: postgres.js may reject its next `begin` with the error
   * that ended it, and then run the statements behind that `begin` outside of a transaction. Nor is one that has rested for long.
   */
  function takeConnection(): Connection {
    const connection = idle.pop();
    if (connection === undefined) return openConnection();
    if (!connection.isLost && performance.now() - connection.freeSince < STALE_MS) return connection;
    void closeConnection(connection);
    return takeConnection();
  }

  function freeConnection(connection: Connection): void {
    connection.freeSince = performance.now();
    idle.push(connection);
  }

  async function closeConnection(connection: Connection): Promise<void> {
    all.delete(connection);
    await connection.sql.end({ timeout: 0 });
  }

  async function transact<Result>(work: Work<Result>, options: TransactOptions = {}): Promise<Result> {
    watch.check();
    const connection = takeConnection();
    connection.limitMs = options.isLong ? null : LIMIT_MS;
    let isBegun = false;
    let isEnded = false;
    const control = (text: string) => connection.sql.unsafe(text).execute();
    const assertOpen = () => {
      if (connection.isLost || isEnded)
        throw Object.assign(new Error('the transaction is over'), { code: 'CONNECTION_CLOSED' });
    };
    const query = async <Row extends object>(text: string, parameters: Values): Promise<Row[]> => {
      assertOpen();
      return connection.query(text, parameters);
    };
    const commitWith = async <Row extends object>(text: string, parameters: Values): Promise<Row[]> => {
      const rows = query<Row>(text, parameters);
      isEnded = true;
      // If the statement fails, this commit rolls back.
      await Promise.all([rows, control('commit')]);
      return rows;
    };
    try {
      const lifted = options.isLong && !isPooled ? control(LIFT_TRANSACTION_LIMIT) : null;
      const begun = control('begin').then(() => {
        isBegun = true;
      });
      const [result] = await Promise.all([work(query, commitWith), begun, lifted]);
      if (!isEnded) {
        assertOpen();
        await control('commit');
      }
      freeConnection(connection);
      return result;
    } catch (error) {
      // The connection is known to work only if Postgres itself refused a statement.
      const isSound = isBegun && !connection.isLost && error instanceof postgres.PostgresError && !isUnavailable(error);
      if (!isSound) void closeConnection(connection);
      else {
        if (!isEnded) control('rollback').catch(() => {});
        freeConnection(connection);
      }
      isEnded = true;
      throw error;
    }
  }

  return {
    transact,
    close: async () => {
      await Promise.all([...all].map((connection) => connection.sql.end({ timeout: 5 })));
    },
  };
}
