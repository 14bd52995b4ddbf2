import type { Database, Query } from '../../db/client';

/** A statement as it went to Postgres. */
export interface Statement {
  text: string;
  parameters: unknown[];
  /** Whether it stays prepared on its connection, so that its plan may come to serve all parameters. */
  isPrepared: boolean;
}

/** Records what a pool sends, from now on. `take` answers what came since the last time. */
export function recordStatements(db: Database): { take(): Statement[]; stop(): void } {
  const { sql, query, transact } = db;
  const prepared = new Set<string>();
  let statements: Statement[] = [];
  const watch =
    (send: Query): Query =>
    (text, parameters) => {
      prepared.add(text);
      return send(text, parameters);
    };
  db.query = watch(query);
  // Transactions have connections of their own.
  const note =
    (send: Query): Query =>
    (text, parameters) => {
      statements.push({ text, parameters: [...parameters], isPrepared: true });
      return send(text, parameters);
    };
  db.transact = (work) => transact((queryWithin, commitWith) => work(note(queryWithin), note(commitWith)));
  // postgres.js turns parameters into text in place, later.
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
      db.transact = transact;
      sql.options.debug = false;
    },
  };
}
