// Calls through a relay that breaks requests as it is told. Prints for each call its outcome and the requests that arrived.
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { createClient } from 'bot-detection-client';

const { RELAY, KEY, RECEIVER, ELSEWHERE } = process.env;
const client = createClient({ apiKey: KEY, baseUrl: `${RELAY}/` });
const hasty = createClient({ apiKey: KEY, baseUrl: RELAY, timeoutMs: 300, maxRetries: 1 });
/** For calls that succeed at the second attempt, also on a machine that is slow. */
const calm = createClient({ apiKey: KEY, baseUrl: RELAY, timeoutMs: 3_000, maxRetries: 1 });
const steady = createClient({ apiKey: KEY, baseUrl: RELAY, timeoutMs: 5_000, maxRetries: 0 });
const seen = {};
/** Pauses are as short as chance permits, except where they are measured. */
let chance = 0;
Math.random = () => chance;
const inspected = [inspect(client, { depth: 9, showHidden: true }), JSON.stringify(client), String(client)];

const plan = async (...faults) =>
  (await fetch(`${RELAY}/relay`, { method: 'POST', body: JSON.stringify(faults) })).json();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function observe(name, faults, call) {
  await plan(...faults);
  const startMs = performance.now();
  const outcome = await call().then(
    (value) => ({ value }),
    (error) => {
      inspected.push(inspect(error, { depth: 9, showHidden: true }), String(error.stack), JSON.stringify(error));
      const { name, status, code, field, requestId, retryAfterSeconds, timeoutMs, webhookId } = error;
      const hasRequestId = Boolean(requestId);
      return { error: { name, status, code, field, hasRequestId, retryAfterSeconds, timeoutMs, webhookId } };
    },
  );
  const requests = await plan();
  const keys = [...new Set(requests.map(({ headers }) => headers['idempotency-key']))];
  const pausesMs = requests.slice(1).map(({ at }, index) => at - requests[index].at);
  const areEnded = requests.every(({ isEnded }) => isEnded);
  seen[name] = { ...outcome, requests: requests.length, areEnded, keys, pausesMs, tookMs: performance.now() - startMs };
  return outcome.value;
}
const status = (code, headers) => ({ status: code, headers });
async function readAll(rows) {
  const all = [];
  for await (const row of rows) all.push(row);
  return all.length;
}

const getStats = async () => typeof (await client.stats.get());
await observe('get after 500, 503 and a cut', [status(500), status(503), 'cut-after'], getStats);
await observe('get after three cuts', ['cut-before', 'cut-before', 'cut-before'], getStats);
await observe(
  'get after four 503',
  [1, 2, 3, 4].map(() => status(503)),
  getStats,
);
chance = 0.999;
await observe(
  'get after 503 by the worst chance',
  [1, 2, 3].map(() => status(503)),
  getStats,
);
chance = 0.1;
const patient = createClient({ apiKey: KEY, baseUrl: RELAY, maxRetries: 6 });
await observe(
  'get after many 503',
  [1, 2, 3, 4, 5, 6].map(() => status(503)),
  async () => typeof (await patient.stats.get()),
);
chance = 0;
await observe(
  'get after four cuts',
  [1, 2, 3, 4].map(() => 'cut-before'),
  getStats,
);
await observe('get after 429', [status(429, { 'retry-after': '1' })], getStats);
await observe('get after 429 without a time', [status(429)], getStats);
await observe('get after 429 with a date', [status(429, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' })], getStats);
await observe('get after 429 for long', [status(429, { 'retry-after': '61' })], getStats);
for (const code of [400, 401, 402, 403, 404]) await observe(`get after ${code}`, [status(code)], getStats);
await observe('redirect', [status(307, { location: ELSEWHERE })], getStats);
await observe('no answer of the API', [{ status: 200, body: '<html>' }], getStats);

await observe('another JSON', [{ status: 200, body: '{}' }], getStats);
await observe('another JSON for a list', [{ status: 200, body: '{"data":[]}' }], () => client.sessions.list().page());
await observe('another JSON for a page', [{ status: 200, body: '{"data":[],"pagination":null}' }], () =>
  client.sessions.list().page(),
);
await observe('a page without items', [{ status: 200, body: '{"pagination":{"hasMore":false,"limit":1}}' }], () =>
  readAll(client.sessions.list()),
);
await observe('another JSON with a status', [{ status: 200, body: '{"status":"maintenance"}' }], getStats);
await observe('another JSON without a status', [{ status: 200, body: '{"data":{}}' }], () => client.health.get());
await observe('nothing', [status(204)], getStats);
await observe('a page where nothing is answered', [{ status: 200, body: '{"data":{}}' }], () =>
  client.webhooks.delete('whk_1'),
);

const page = (data, pagination) => ({ status: 200, body: JSON.stringify({ data, pagination }) });
const more = { hasMore: true, limit: 1, nextCursor: 'c' };
const evenMore = { ...more, nextCursor: 'd' };
await observe(
  'empty page',
  [page([], more), page([{ id: 's' }], evenMore), page([], { hasMore: false, limit: 1 })],
  () => readAll(client.sessions.list()),
);
await observe('page without a cursor', [page([], { hasMore: true, limit: 1 })], () => readAll(client.users.list()));
await observe('page that leads to itself', [page([], more), page([], more)], () => readAll(client.users.list()));
await observe('one page from a cursor', [], () => client.sessions.list({ cursor: 'c' }).page());
await observe('field', [], () => client.sessions.list({ pageSize: 0 }).page());
await observe('unknown', [], () => client.sessions.get('no such/session'));
await observe('error that breaks off', ['cut-after'], () => client.sessions.get('no such/session'));
await observe('impossible id', [], () => client.sessions.get('..'));
await observe('empty id', [], () => client.webhooks.delete(''));
await observe('half a character', [], () => client.sessions.get('a\ud83d'));
await observe('wrong key', [], () => createClient({ apiKey: `${KEY}x`, baseUrl: RELAY }).stats.get());

const id = (await client.sessions.list().page()).items[0].id;
const entries = await readAll(client.auditLog.list());
const label = (options) => async () => (await client.sessions.label(id, { verdict: 'bot' }, options)).verdict;
await observe('label after a cut', ['cut-after', status(503)], label());
await observe('label with a key', ['cut-after'], label({ idempotencyKey: 'mine' }));
await observe('bad idempotency key', [], label({ idempotencyKey: 'a\n' }));
await observe('long idempotency key', [], label({ idempotencyKey: 'a'.repeat(256) }));
seen.labels = (await readAll(client.auditLog.list())) - entries;

const body = { url: RECEIVER, eventType: 'BotDetected' };
const webhook = await observe('create after 503', [status(503)], () => client.webhooks.create(body));
seen['create after 503'].value = typeof webhook.id;
const update = async () => (await client.webhooks.update(webhook.id, { name: 'n' })).name;
await observe('patch after 500', [status(500)], update);
await observe('patch after a cut', ['cut-before'], update);
await observe('patch after 503 and 429', [status(503), status(429, { 'retry-after': '1' })], update);
const forLong = status(429, { 'retry-after': '61' });
await observe('get after a cut and 429 for long', ['cut-after', forLong], getStats);
await observe('patch after 503 and 429 for long', [status(503), forLong], update);
await observe('label after a cut and 429 for long', ['cut-after', forLong], label());
await observe('rotate after a cut', ['cut-after'], () => client.webhooks.rotateSecret(webhook.id));
await observe('put after a cut', ['cut-after'], () => client.riskThresholds.update({ mediumAt: 40, botAt: 70 }));
await observe('test after a cut', ['cut-after'], async () => (await client.webhooks.test(webhook.id)).status);
seen.deliveries = await readAll(client.webhooks.listDeliveries(webhook.id));
await observe('create after a cut', ['cut-after'], () => client.webhooks.create(body));
seen.webhooks = (await client.webhooks.list()).length;
await observe('delete after a cut', ['cut-after'], async () => typeof (await client.webhooks.delete(webhook.id)));
await observe(
  'delete after 500',
  [status(500), status(404)],
  async () => typeof (await client.webhooks.delete('whk_1')),
);
await observe('delete of nothing', [], () => client.webhooks.delete(webhook.id));
await observe('delete of nothing after 429', [status(429)], () => client.webhooks.delete(webhook.id));
await observe('erasure of nobody after a cut', ['cut-before', status(404)], () => client.users.erase('nobody'));

await observe('timeout', ['hang', 'hang'], () => hasty.stats.get());
await observe('timeout of the call', ['hang'], () => steady.stats.get({ timeoutMs: 100 }));
await observe('timeout of an export', ['hang'], () => readAll(steady.exports.users({}, { timeoutMs: 100 })));
await observe('no timeout', [], async () => typeof (await steady.stats.get({ timeoutMs: Infinity })));
await observe('timeout, then an answer', ['hang'], async () => typeof (await calm.stats.get()));
const readUser = async () => (await steady.users.export('ada')).sessions.length;
// Rows are read on after longer than the time limit: it is for the wait, not for what is done with them.
const unhurried = steady.exports.sessions();
await unhurried.next();
await observe('export of a user that takes long', ['slowly'], readUser);
seen.readLater = await readAll(unhurried).catch(({ name }) => name);
await observe('export of a user that stalls', ['stall-after'], readUser);
await observe('list that takes long', ['slowly'], () => steady.webhooks.list());
await observe('cancelled', ['hang'], () => client.stats.get({ signal: AbortSignal.timeout(100) }));
await observe('cancelled in an error', ['stall-after'], () =>
  client.sessions.get('no such/session', { signal: AbortSignal.timeout(200) }),
);
const own = new AbortController();
const pausing = observe('cancelled in a pause', [status(429, { 'retry-after': '60' })], () =>
  client.stats.get({ signal: own.signal }),
);
await sleep(200);
own.abort(Object.assign(new Error('enough'), { name: 'Enough' }));
await pausing;
await observe('cancelled before', [], () => client.stats.get({ signal: own.signal }));

await observe('export after 503', [status(503)], () => readAll(client.exports.sessions()));
await observe('export that breaks off', ['cut-after'], () => readAll(client.exports.sessions()));
const csv = { format: 'csv' };
await observe('csv that breaks off', ['cut-after'], () => readAll(client.exports.sessions(csv)));
await observe('csv without an end', [{ status: 200, headers: { 'content-type': 'text/csv' }, body: 'id\r\nx' }], () =>
  readAll(client.exports.sessions(csv)),
);
const ndjson = { 'content-type': 'application/x-ndjson' };
const foreign = '{"id":"ses-1"}\n<p>Bad gateway</p>\n';
await observe('export with a foreign line', [{ status: 200, headers: ndjson, body: foreign }], () =>
  readAll(client.exports.sessions()),
);
await observe('export of something else', [{ status: 200, body: '<html>\n' }], () =>
  readAll(client.exports.sessions(csv)),
);
// More than the buffers of a connection hold.
await observe('export of a long page', [{ status: 200, body: 'x'.repeat(16e6) }], async () => {
  const { code } = await readAll(client.exports.sessions()).catch((error) => error);
  await sleep(200);
  return code;
});
await observe('export that hangs', ['hang', 'hang'], () => readAll(hasty.exports.users()));
await observe('export that stalls', ['stall-after'], () => readAll(calm.exports.sessions()));
await observe('answer that stalls', ['stall-after'], async () => typeof (await calm.stats.get()));
await observe('csv that is cancelled', ['hang'], async () => {
  const reader = client.exports.users(csv).getReader();
  setTimeout(() => reader.cancel(), 100);
  const { done } = await reader.read();
  await sleep(200);
  return done;
});
const given = new AbortController();
await observe('csv that is cancelled by its signal', ['hang'], () => {
  setTimeout(() => given.abort(Object.assign(new Error('enough'), { name: 'Enough' })), 100);
  return readAll(client.exports.users(csv, { signal: given.signal }));
});
await observe('csv that is cancelled before', [], () => readAll(client.exports.users(csv, { signal: given.signal })));
await observe('export that is left', ['stall-after'], async () => {
  for await (const _ of client.exports.sessions()) break;
  await sleep(200);
});
await observe('csv that nobody reads', [], async () => {
  client.exports.users(csv);
  await sleep(50);
});
const { signal } = new AbortController();
await observe('all with one signal', [status(503), 'pass', status(404)], async () => {
  await client.stats.get({ signal });
  await client.sessions.get('s', { signal }).catch(() => {});
  await readAll(client.exports.users({}, { signal }));
  await readAll(client.exports.users(csv, { signal }));
  await client.exports.users(csv, { signal }).cancel();
  return getEventListeners(signal, 'abort').length;
});

const shared = new AbortController();
await observe('twelve with one signal', [], async () => {
  const calls = Array.from({ length: 12 }, () => client.stats.get({ signal: shared.signal }).catch(({ name }) => name));
  const listeners = getEventListeners(shared.signal, 'abort').length;
  shared.abort(Object.assign(new Error('enough'), { name: 'Enough' }));
  return [listeners, ...new Set(await Promise.all(calls))];
});

for (const apiKey of [`${KEY}\n`, `${KEY} `, `${KEY}é`])
  await observe(`bad key: ${JSON.stringify(apiKey.at(-1))}`, [], async () => createClient({ apiKey, baseUrl: RELAY }));
const addresses = {
  password: `http://:${KEY}@127.0.0.1/`,
  user: `http://${KEY}@127.0.0.1/`,
  query: `${RELAY}/?a=${KEY}`,
};
Object.assign(addresses, { fragment: `${RELAY}/#${KEY}`, scheme: 'ftp://127.0.0.1/', text: 'api.example.com' });
for (const [what, baseUrl] of Object.entries(addresses))
  await observe(`bad address: ${what}`, [], async () => createClient({ apiKey: KEY, baseUrl }));
const options = { key: { apiKey: undefined }, time: { timeoutMs: 0 }, 'no time': { timeoutMs: Number('x') } };
Object.assign(options, { retries: { maxRetries: Number('x') }, 'no retries': { maxRetries: -1 } });
for (const [what, option] of Object.entries(options))
  await observe(`bad option: ${what}`, [], async () => createClient({ apiKey: KEY, baseUrl: RELAY, ...option }));
await observe('bad option: time of a call', [], () => steady.stats.get({ timeoutMs: -1 }));
await observe('bad region', [], async () => createClient({ apiKey: KEY, baseUrl: { us: RELAY }, region: 'eu' }));
// What would keep the process alive: the time limits of calls that are over.
seen.timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
seen.showsKey = inspected.some((text) => text?.includes(KEY));
process.stdout.write(JSON.stringify(seen));
