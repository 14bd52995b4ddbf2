// Receivers of webhooks with Express, Fastify, and a route handler of Next behind node:http. Prints their addresses as JSON, and then a
// line for each delivery that they took. `POST /control` replaces the secrets, and says whether storing fails.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { receiveWebhooks as receiveWithExpress } from 'bot-detection-client/express';
import { receiveWebhooks as receiveWithFastify } from 'bot-detection-client/fastify';
import { receiveWebhooks as receiveWithNext } from 'bot-detection-client/next';
import express from 'express';
import fastify from 'fastify';

const secrets = ['none yet'];
let failures = 0;
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const optionsOf = (framework) => ({
  secrets,
  async onDelivery(delivery) {
    const isFailing = failures > 0;
    if (isFailing) failures -= 1;
    print({ framework, isFailing, ...delivery });
    if (isFailing) throw new Error('the store is away');
  },
});
const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`)));

const app = express();
app.post('/hook', receiveWithExpress(optionsOf('express')));
app.post('/raw', express.raw({ type: 'application/json' }), receiveWithExpress(optionsOf('express after express.raw')));
app.post('/parsed', express.json(), receiveWithExpress(optionsOf('express after express.json')));
app.use((_error, _request, response, _next) => response.status(500).end());

const instance = fastify();
await instance.register(receiveWithFastify, { path: '/hook', ...optionsOf('fastify') });
// The rest of the application still gets parsed JSON.
instance.post('/echo', async ({ body }) => ({ type: typeof body }));
await instance.ready();

const POST = receiveWithNext(optionsOf('next'));
const next = createServer(async (incoming, response) => {
  const request = new Request(`http://127.0.0.1${incoming.url}`, {
    method: incoming.method,
    headers: incoming.headers,
    body: Readable.toWeb(incoming),
    duplex: 'half',
  });
  const answer = await POST(request).catch(() => new Response(null, { status: 500 }));
  response.writeHead(answer.status).end(await answer.text());
});

const control = createServer(async (request, response) => {
  const command = JSON.parse(Buffer.concat(await request.toArray()).toString());
  secrets.splice(0, secrets.length, ...command.secrets);
  failures = command.failures ?? 0;
  response.end();
});
print({
  express: await listen(createServer(app)),
  fastify: await instance.listen({ host: '127.0.0.1', port: 0 }),
  next: await listen(next),
  control: await listen(control),
});
