import { drizzle } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import type { Database, Sql } from './client';
import { asPool } from './postgres-internals';
import * as schema from './schema';
import { createQuery, type Query } from './transaction';

/**
 * Runs work with a database whose statements all belong to one transaction, which is committed when the work is done and rolled back
 * if it fails. Transactions of the work become savepoints.
 */
export const runUnitOfWork = <Result>(db: Database, work: (unit: Database) => Promise<Result>): Promise<Result> =>
  db.sql.begin((transaction) => work(bindDatabase(db, transaction))) as Promise<Result>;

function bindDatabase(db: Database, transaction: postgres.TransactionSql): Database {
  const sql: Sql = asPool(transaction, db.sql);
  const query = createQuery(sql);
  return {
    ...db,
    sql,
    orm: drizzle(sql, { schema }),
    query,
    lookUp: query,
    transact: <Result>(work: (query: Query, commitWith: Query) => Promise<Result>) =>
      transaction.savepoint((inner) => {
        const bound = bindDatabase(db, inner);
        return work(bound.query, bound.query);
      }) as Promise<Result>,
  };
}
