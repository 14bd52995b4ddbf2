import postgres from 'postgres';
import { isUnavailable } from './errors';
import type { LineOptions, Watch } from './watch';

type Values = postgres.ParameterOrJSON<never>[];

/** Runs a statement that is written out as text, prepared once per connection where the connection is ours alone. */
export type Query = <Row extends object>(text: string, parameters: Values) => Promise<Row[]>;

/** Creates a Query. `unsafe` prepares only what it is told to, and sends only what is executed or awaited. */
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
  /** Of work in the background on as many rows as there are: no statement of it is too long. */
  isLong?: boolean;
}

/** What a statement may take that somebody waits for. Large batches of facts take seconds. */
const LIMIT_MS = 8_000;

/** A connection with one user at a time. */
interface Lane {
  sql: postgres.Sql;
  query: Query;
  /** Whether the connection was lost; the next statement would open another, and run there outside of the transaction. */
  isLost: boolean;
  limitMs: number | null;
}

/**
 * Opens connections for transactions, as many as run at a time. postgres.js has two ways to one of its pool's: `begin`
 * waits for the answers to begin and to commit by themselves, and `reserve` never answers where it has to connect first
 * (3.4.9, without `fetch_types`).
 */
export function openTransactions(
  watch: Watch,
  connect: (options: postgres.Options<never>, line: LineOptions) => postgres.Sql,
): Transactions {
  const idle: Lane[] = [];
  const all = new Set<Lane>();

  function openLane(): Lane {
    const onclose = () => {
      lane.isLost = true;
    };
    // Its life must not end between two statements.
    const sql = connect({ max: 1, max_lifetime: null, onclose }, { limitMs: () => lane.limitMs });
    const lane: Lane = { sql, query: createQuery(sql), isLost: false, limitMs: null };
    all.add(lane);
    return lane;
  }

  async function closeLane(lane: Lane): Promise<void> {
    all.delete(lane);
    await lane.sql.end({ timeout: 0 });
  }

  async function transact<Result>(work: Work<Result>, options: TransactOptions = {}): Promise<Result> {
    watch.check();
    const lane = idle.pop() ?? openLane();
    lane.isLost = false;
    lane.limitMs = options.isLong ? null : LIMIT_MS;
    let isBegun = false;
    let isEnded = false;
    const control = (text: string) => lane.sql.unsafe(text).execute();
    const query = <Row extends object>(text: string, parameters: Values): Promise<Row[]> => {
      if (lane.isLost || isEnded)
        return Promise.reject(Object.assign(new Error('the transaction is over'), { code: 'CONNECTION_CLOSED' }));
      return lane.query(text, parameters);
    };
    const commitWith = async <Row extends object>(text: string, parameters: Values): Promise<Row[]> => {
      const rows = query<Row>(text, parameters);
      isEnded = true;
      // Where the statement has failed it rolls back.
      await Promise.all([rows, control('commit')]);
      return rows;
    };
    try {
      const begun = control('begin').then(() => {
        isBegun = true;
      });
      const [result] = await Promise.all([work(query, commitWith), begun]);
      if (!isEnded) await control('commit');
      idle.push(lane);
      return result;
    } catch (error) {
      // Only what Postgres itself has refused tells that the connection is sound.
      const isSound = isBegun && !lane.isLost && error instanceof postgres.PostgresError && !isUnavailable(error);
      if (!isSound) void closeLane(lane);
      else {
        if (!isEnded) control('rollback').catch(() => {});
        idle.push(lane);
      }
      isEnded = true;
      throw error;
    }
  }

  return {
    transact,
    close: async () => {
      await Promise.all([...all].map((lane) => lane.sql.end({ timeout: 5 })));
    },
  };
}
