import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import postgres from 'postgres';
import { domainEvents, sessionEvents, sessionFlags, sessionScores, sessions as sessionsTable } from '../../db/schema';
import { makeBatches } from './delivery-bench';
import { openProductBench, type ProductBench, type Tenant } from './product-bench';
import { type BenchOptions, compareToFloor, type Figure, type Report } from './report';

const CONNECTIONS = 16;
const LEAST_SHARE = 0.5;
const WARM_UP = 500;
/** The number of concurrent transactions of the floor. */
const WRITERS = 2;

/** Sessions per batch: one each, sent as it ends, and many together, as a pipeline sends after a backlog. */
const BATCHES = [
  { name: 'facts, a session a batch', size: 1 },
  { name: 'facts, 25 sessions a batch', size: 25, goal: { atLeast: LEAST_SHARE } },
];

/** Measures facts through the pipeline's endpoint, compared to the same rows in plain inserts. */
export async function measureIngest({ sessions, say }: BenchOptions): Promise<Report> {
  say('starting the product');
  const bench = await openProductBench();
  const figures: Figure[] = [];
  const details: Report['details'] = {};
  try {
    for (const { name, size, goal } of BATCHES) {
      say(`${name}: warm-up`);
      await measureBatches(bench, WARM_UP, size);
      say(`${name}: ${sessions} sessions through the endpoint, and the same rows in plain inserts`);
      const { endpoint, floor } = await measureBatches(bench, sessions, size);
      const perSecond = (ms: number) => (endpoint.facts * 1_000) / ms;
      const rate = { name, value: perSecond(endpoint.ms), unit: '/s', floor: perSecond(floor.ms) };
      figures.push(...(goal ? compareToFloor(rate, goal) : [rate]));
      details[name] = { endpoint, floor };
    }
    return { figures, details, notes: NOTES };
  } finally {
    await bench.close();
  }
}

async function measureBatches(bench: ProductBench, sessions: number, size: number) {
  const tenant = await bench.createTenant('ingest');
  const copy = await bench.createTenant('floor');
  const endpoint = await postSessions(bench, tenant, sessions, size);
  return { endpoint, floor: await copyRows(bench, tenant, copy, size * CONNECTIONS) };
}

async function postSessions(
  bench: ProductBench,
  tenant: Tenant,
  count: number,
  size: number,
): Promise<{ facts: number; ms: number }> {
  const sessions = makeBatches(tenant, count).map(({ facts }) => facts);
  const batches = Array.from({ length: Math.ceil(count / size) }, (_, index) =>
    sessions.slice(index * size, (index + 1) * size).flat(),
  );
  const bodies = batches.map((facts) => JSON.stringify({ integrationId: tenant.id, facts }));
  const poster = bench.openPoster(CONNECTIONS);
  try {
    const from = performance.now();
    return { facts: sessions.flat().length, ms: (await poster.postAll(bodies)) - from };
  } finally {
    poster.close();
  }
}

/** The tables that the facts of `makeBatches` fill. A trigger counts new sessions, in the product and in the floor. */
const TABLES: PgTable[] = [sessionsTable, sessionFlags, sessionEvents, sessionScores, domainEvents];

interface Rows {
  table: string;
  columns: string[];
  rows: postgres.Row[];
}

/**
 * Copies a tenant's rows to another tenant in the same tables. Each transaction holds as many sessions as the endpoint
 * can have in flight.
 */
async function copyRows(
  { sql, databaseUrl }: ProductBench,
  from: Tenant,
  to: Tenant,
  sessionsAtOnce: number,
): Promise<{ rows: number; ms: number }> {
  const tables: Rows[] = [];
  for (const definition of TABLES) {
    const table = getTableConfig(definition).name;
    const columns = Object.values(getTableColumns(definition)).filter(({ generated }) => !generated);
    const names = columns.map(({ name }) => name);
    const rows = await sql`select ${sql(names)} from ${sql(table)} where integration_id = ${from.id}`;
    tables.push({ table, columns: names, rows: rows.map((row) => ({ ...row, integration_id: to.id })) });
  }
  const sessionCount = tables[0]!.rows.length;
  const groups = Array.from({ length: Math.ceil(sessionCount / sessionsAtOnce) }, (_, index) => index);
  /** The rows of one group in a table: as many as its sessions have there, no matter whose they are. */
  const share = ({ rows }: Rows, group: number) => {
    const size = (rows.length / sessionCount) * sessionsAtOnce;
    return rows.slice(group * size, (group + 1) * size);
  };
  const writer = postgres(databaseUrl, { max: WRITERS, onnotice: () => {} });
  const write = async () => {
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) await writeGroup(group);
  };
  const writeGroup = (group: number) =>
    writer.begin((tx) =>
      tables.map((rows) => tx`insert into ${tx(rows.table)} ${tx(share(rows, group), rows.columns)}`),
    );
  try {
    await writer`select 1`;
    const start = performance.now();
    await Promise.all(Array.from({ length: WRITERS }, write));
    const ms = performance.now() - start;
    return { rows: tables.reduce((sum, { rows }) => sum + rows.length, 0), ms };
  } finally {
    await writer.end();
  }
}

const NOTES = [
  'Poster, server and Postgres share the cores of this machine.',
  `Four facts a session, ${CONNECTIONS} connections: first post → last answer.`,
  'Floor: the resulting rows, written again for another tenant with postgres.js, in transactions of as many sessions as the',
  `endpoint can have in flight, one insert for each table, ${WRITERS} at a time.`,
];
