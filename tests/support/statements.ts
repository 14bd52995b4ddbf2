import type { Database, Query } from '../../db/client';

/** A statement as it was sent to Postgres. */
export interface Statement {
  text: string;
  parameters: unknown[];
  /** Whether it stays prepared on its connection, so that Postgres may use a generic plan for it. */
  isPrepared: boolean;
}

/** Records from now on what a pool sends. `take` answers the statements since its last call. */
export function recordStatements(db: Database): { take(): Statement[]; stop(): void } {
  const { sql, query, lookUp, transact } = db;
  const prepared = new Set<string>();
  let statements: Statement[] = [];
  const watch =
    (send: Query): Query =>
    (text, parameters) => {
      prepared.add(text);
      return send(text, parameters);
    };
  db.query = watch(query);
  // On the pool, so that all statements are seen in one place.
  db.lookUp = db.query;
  // Transactions use separate connections.
  const note =
    (send: Query): Query =>
    (text, parameters) => {
      statements.push({ text, parameters: [...parameters], isPrepared: true });
      return send(text, parameters);
    };
  db.transact = (work) => transact((queryWithin, commitWith) => work(note(queryWithin), note(commitWith)));
  // postgres.js later replaces parameters by text in the same array.
  sql.options.debug = (_connection, text, parameters) => {
    statements.push({ text, parameters: [...parameters], isPrepared: prepared.has(text) });
  };
  return {
    take() {
      const taken = statements;
      statements = [];
      return taken;
    },
    stop() {
      db.query = query;
      db.lookUp = lookUp;
      db.transact = transact;
      sql.options.debug = false;
    },
  };
}
