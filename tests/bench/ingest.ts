import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import postgres from 'postgres';
import { domainEvents, sessionEvents, sessionScores, sessions as sessionsTable } from '../../db/schema';
import { makeBatches } from './delivery-bench';
import { openProductBench, type ProductBench, type Tenant } from './product-bench';
import { type BenchOptions, compareToFloor, type Report } from './report';

const CONNECTIONS = 16;
const LEAST_SHARE = 0.5;
const WARM_UP = 500;
/** The floor's transactions under way. */
const WRITERS = 2;

/** Facts through the pipeline's door beside the same rows in plain inserts. */
export async function measureIngest({ sessions, say }: BenchOptions): Promise<Report> {
  say('the product starts');
  const bench = await openProductBench();
  try {
    const copy = await bench.createTenant('floor');
    say('warm-up');
    const early = await bench.createTenant('warm-up');
    await postSessions(bench, early, WARM_UP);
    await copyRows(bench, early, await bench.createTenant('warm-up of the floor'));
    say(`${sessions} sessions through the door`);
    const tenant = await bench.createTenant('ingest');
    const door = await postSessions(bench, tenant, sessions);
    say('the same rows in plain inserts');
    const floor = await copyRows(bench, tenant, copy);
    const perSecond = (ms: number) => (door.facts * 1_000) / ms;
    const rate = { name: 'facts', value: perSecond(door.ms), unit: '/s', floor: perSecond(floor.ms) };
    return {
      figures: compareToFloor(rate, { atLeast: LEAST_SHARE }),
      details: { door, floor },
      notes: makeNotes(door.facts, floor.rows),
    };
  } finally {
    await bench.close();
  }
}

async function postSessions(
  bench: ProductBench,
  tenant: Tenant,
  count: number,
): Promise<{ facts: number; ms: number }> {
  const bodies = makeBatches(tenant, count).map(({ text }) => text);
  const facts = JSON.parse(bodies[0]!).facts.length * count;
  const poster = bench.openPoster(CONNECTIONS);
  try {
    const from = performance.now();
    return { facts, ms: (await poster.postAll(bodies)) - from };
  } finally {
    poster.close();
  }
}

/** What the facts of `makeBatches` become. A trigger counts new sessions, here and there. */
const TABLES: PgTable[] = [sessionsTable, sessionEvents, sessionScores, domainEvents];

interface Rows {
  table: string;
  columns: string[];
  rows: postgres.Row[];
}

/**
 * Writes a tenant's rows again as another one's, into the same tables: those of as many sessions in a transaction as the
 * door can have in hand.
 */
async function copyRows(
  { sql, databaseUrl }: ProductBench,
  from: Tenant,
  to: Tenant,
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
  const groups = Array.from({ length: Math.ceil(sessionCount / CONNECTIONS) }, (_, index) => index);
  /** A group's share of a table: as many rows as its sessions have there, whoever's they are. */
  const share = ({ rows }: Rows, group: number) => {
    const size = (rows.length / sessionCount) * CONNECTIONS;
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

const makeNotes = (facts: number, rows: number) => [
  'Poster, server and Postgres share the cores of this machine.',
  `${facts} facts, a batch for each session, ${CONNECTIONS} connections: first post → last answer.`,
  `Floor: the ${rows} rows they became, written again for another tenant with postgres.js, ${CONNECTIONS} sessions a transaction,`,
  `one insert for each table, ${WRITERS} at a time.`,
];
