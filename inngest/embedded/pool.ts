import { Pool } from 'pg';

/**
 * Opens connections for graphile-worker. To be ended by the caller: if graphile-worker opens a pool, it stops listening to
 * its errors as soon as it begins to close it, and an error of a closing connection would end the process.
 */
export function openPool(databaseUrl: string, max: number): Pool {
  const ignore = () => {};
  return new Pool({ connectionString: databaseUrl, max })
    .on('error', ignore)
    .on('connect', (client) => client.on('error', ignore));
}
