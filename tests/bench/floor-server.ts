import fastify from 'fastify';
import type { Beacon } from '../../contract/beacon';
import { toDocumentNumber } from '../../server/collector/packing';
import { openFloorReads } from './floor-reads';

// Run by `bench-server.ts` in its own process: bare routes without contract and router, on the same database. `/collect`
// inserts a row of the same table for each beacon, with the beacon's JSON as its body; it checks nothing and judges nothing.
// Takes a FloorRequest in JSON as its argument.

export interface FloorRequest {
  databaseUrl: string;
  port: number;
}

const { databaseUrl, port }: FloorRequest = JSON.parse(process.argv[2]!);
const { sql, readSession, readPage } = openFloorReads(databaseUrl);
const app = fastify();
app.addHook('onSend', async (_request, reply) => void reply.type('application/json; charset=utf-8'));

app.get('/health', async () => '{"status":"ok"}');

app.get<{ Params: { id: string } }>('/v1/sessions/:id', ({ headers, params }) =>
  readSession(headers.authorization, params.id),
);

app.get<{ Querystring: { pageSize: string } }>('/v1/sessions', ({ headers, query }) =>
  readPage(headers.authorization, Number(query.pageSize)),
);

/** No session of the product has this number. */
const SESSION_KEY = -1;
app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body));
app.post<{ Body: string }>('/collect', async (request) => {
  const { d, n }: Beacon = JSON.parse(request.body);
  await sql`
    insert into session_batches (day, session_key, document, sequence, received_at, body)
    values (current_date, ${SESSION_KEY}, ${toDocumentNumber(d)}, ${n}, now(), ${Buffer.from(request.body)})
    on conflict do nothing`;
  return '{}';
});

await app.listen({ port, host: '127.0.0.1' });
