import fastify from 'fastify';
import postgres from 'postgres';
import type { Beacon } from '../../contract/beacon';
import { documentNumber } from '../../server/collector/packing';
import type { ReadFloorRequest } from './read-floor';

// Run by `bench-server.ts` in its own process: a bare route that inserts a row of the same table for each beacon, with the
// beacon's JSON as its body. It checks nothing and judges nothing. Takes a ReadFloorRequest in JSON as its argument.

const { databaseUrl, port }: ReadFloorRequest = JSON.parse(process.argv[2]!);
const sql = postgres(databaseUrl, { max: 10, onnotice: () => {} });
/** No session of the product has this number. */
const SESSION_KEY = -1;

const app = fastify();
app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body));
app.get('/health', async () => '{"status":"ok"}');
app.post<{ Body: string }>('/collect', async (request) => {
  const { d, n }: Beacon = JSON.parse(request.body);
  await sql`
    insert into session_batches (day, session_key, document, sequence, received_at, body)
    values (current_date, ${SESSION_KEY}, ${documentNumber(d)}, ${n}, now(), ${Buffer.from(request.body)})
    on conflict do nothing`;
  return '{}';
});
await app.listen({ port, host: '127.0.0.1' });
