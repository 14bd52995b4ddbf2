// What a customer's first program does: reads, labels, manages a webhook, exports. Prints what it saw.
import { createClient } from 'bot-detection-client';

const { BASE, KEY, RECEIVER } = process.env;
const client = createClient({ apiKey: KEY, baseUrl: { us: BASE }, region: 'us' });
const seen = {};

const ids = [];
for await (const session of client.sessions.list({ pageSize: 100 })) ids.push(session.id);
seen.sessions = ids;

const pages = [];
for await (const page of client.sessions.list({ pageSize: 100, riskLevel: 'bot' }).pages()) pages.push(page);
seen.bots = pages.flatMap(({ items }) => items.map(({ riskLevel }) => riskLevel));

// A walk that goes on in another process, from a cursor that was kept.
const [first] = pages;
const rest = client.sessions.list({ pageSize: 100, riskLevel: 'bot', cursor: first.nextCursor });
let others = 0;
for await (const _ of rest) others++;
seen.isContinued = others === seen.bots.length - first.items.length;
seen.firstPage = { ...(await client.sessions.list({ pageSize: 3 }).page()), nextCursor: undefined, items: undefined };

const [id] = ids;
const { labeledAt, ...label } = await client.sessions.label(id, { verdict: 'human', notes: 'n' });
seen.label = label;
seen.session = (await client.sessions.get(id)).label.verdict;
seen.confirmed = (await client.users.confirmDevice('user/1', 'fp-1')).userId;
seen.thresholds = await client.riskThresholds.update({ mediumAt: 30, botAt: 80 });

const webhook = await client.webhooks.create({ url: RECEIVER, eventType: 'BotDetected' });
const updated = await client.webhooks.update(webhook.id, { name: 'Bots', enabled: false });
const test = await client.webhooks.test(webhook.id);
const rotated = await client.webhooks.rotateSecret(webhook.id, { gracePeriodSeconds: 60 });
const deliveries = [];
for await (const { status } of client.webhooks.listDeliveries(webhook.id)) deliveries.push(status);
seen.webhook = {
  secrets: [webhook.secret, rotated.secret].map((secret) => secret.startsWith('whsec_')),
  areDifferent: webhook.secret !== rotated.secret,
  updated: [updated.name, updated.enabled],
  test: [test.status, test.responseCode],
  deliveries,
  listed: (await client.webhooks.list()).length,
  deleted: (await client.webhooks.delete(webhook.id)) === undefined,
  left: (await client.webhooks.list()).length,
};

const rows = [];
for await (const row of client.exports.sessions({ format: 'ndjson', riskLevel: 'bot' })) rows.push(row.riskLevel);
seen.rows = rows.length;
let csv = '';
for await (const text of client.exports.sessions({ format: 'csv' }).pipeThrough(new TextDecoderStream())) csv += text;
seen.csvLines = csv.trimEnd().split('\n').length;
seen.health = (await client.health.get()).status;
process.stdout.write(JSON.stringify(seen));
