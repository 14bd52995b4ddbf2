import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { startEmbeddedDatabase } from '../../db/embedded';
import { PIPELINE_PATH } from '../../server/rest/pipeline-endpoint';
import { BARE_SERVER, makeDataDir, type Product, runAdmin, type Settings, startProduct } from '../support/product';
import { createPoster, type Poster } from './poster';

export interface Tenant {
  id: string;
  key: string;
}

/** The product in its own process on new data, run as an operator runs it, with access to its Postgres. */
export interface ProductBench {
  product: Product;
  databaseUrl: string;
  dataDir: string;
  sql: postgres.Sql;
  createTenant(name: string): Promise<Tenant>;
  /** Posts to the pipeline's endpoint. */
  openPoster(connections: number): Poster;
  /** Closes the Postgres connections. `endProducts` stops the product itself. */
  close(): Promise<void>;
}

export const SILENT = { info: () => {}, warn: () => {} };

/** High enough that no request of a measurement is rate limited. */
const QUOTA = '100000000';
export const SETTINGS: Settings = { LOG_LEVEL: 'warn', DEMO: '0', QUOTA_ENTERPRISE: QUOTA };

/** Starts the product. `command` runs the server, for example under a profiler. */
export async function openProductBench(settings: Settings = {}, command = BARE_SERVER): Promise<ProductBench> {
  const dataDir = await makeDataDir();
  const product = await startProduct(dataDir, { ...SETTINGS, ...settings }, command);
  const token = (await readFile(join(dataDir, 'pipeline-token'), 'utf8')).trim();
  const embedded = await startEmbeddedDatabase({ dataDir, log: SILENT });
  const sql = postgres(embedded.url, { max: 1, onnotice: () => {} });
  return {
    product,
    databaseUrl: embedded.url,
    dataDir,
    sql,
    createTenant: (name) => createTenant(dataDir, name),
    openPoster: (connections) =>
      createPoster({
        url: `${product.url}${PIPELINE_PATH}`,
        headers: [`authorization: Bearer ${token}`, 'content-type: application/json'],
        connections,
      }),
    async close() {
      await sql.end({ timeout: 1 });
      await embedded.stop();
    },
  };
}

/** Runs a command of the operator, and reads what it prints. */
export async function runOperator(dataDir: string, ...args: string[]) {
  const { code, stdout, stderr } = await runAdmin(dataDir, [...args, '--json']);
  if (code !== 0) throw new Error(`admin ${args.join(' ')} failed: ${stderr}`);
  return JSON.parse(stdout);
}

export async function createTenant(dataDir: string, name: string): Promise<Tenant> {
  const { id } = await runOperator(dataDir, 'integration', 'create', '--name', name, '--plan', 'enterprise');
  const { key } = await runOperator(dataDir, 'key', 'mint', '--integration', id);
  return { id, key };
}
