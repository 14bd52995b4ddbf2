// Each line that ends with `wrong` must not compile, and no other line may fail.
import { createClient } from 'bot-detection-client';
import type { ReceivedDelivery } from 'bot-detection-client/webhooks';

const client = createClient({ apiKey: 'k', baseUrl: { us: 'https://api.us.example.com' }, region: 'us' });
createClient({ apiKey: 'k', baseUrl: 'https://api.example.com', timeoutMs: 1, maxRetries: 0 });
createClient({ apiKey: 'k' }); // wrong
createClient({ baseUrl: 'https://api.example.com' }); // wrong
createClient({ apiKey: 'k', baseUrl: { us: 'https://api.us.example.com' } }); // wrong
createClient({ apiKey: 'k', baseUrl: { us: 'https://api.us.example.com' }, region: 'mars' }); // wrong

export const list = client.sessions.list({ riskLevel: 'bot', pageSize: 5, cursor: undefined });
client.sessions.list({ riskLevel: 'robot' }); // wrong
client.sessions.list({ pagesize: 5 }); // wrong
client.sessions.list({ minBotScore: '0.5' }); // wrong
client.sessions.label('s', { verdict: 'human' });
client.sessions.label('s', { verdict: 'alien' }); // wrong
client.sessions.label('s', {}); // wrong
client.sessions.label('s', { verdict: 'bot', note: 'n' }); // wrong
client.sessions.get(); // wrong
client.sessions.get('s', { idempotencyKey: 'k' }); // wrong
client.sessions.erase('s'); // wrong
client.webhooks.create({ url: 'https://example.com/', eventType: 'BotDetected' });
client.webhooks.create({ url: 'https://example.com/', eventType: 'BotsDetected' }); // wrong
client.webhooks.create({ eventType: 'BotDetected' }); // wrong
client.webhooks.rotateSecret('w', {}, { idempotencyKey: 'k' });
client.webhooks.rotateSecret('w', { graceSeconds: 1 }); // wrong
client.webhooks.recover('w', { startDate: '2026-01-01' });
client.webhooks.recover('w', { endDate: '2026-01-01' }); // wrong

export async function readSession(): Promise<number | null> {
  const session = await client.sessions.get('s');
  const score: number = session.botScore; // wrong
  for await (const { label } of client.sessions.list()) label?.verdict satisfies 'bot' | 'human' | undefined;
  for await (const item of client.sessions.list()) item.label.verdict; // wrong
  for await (const row of client.exports.users({ format: 'ndjson' })) row.id satisfies string;
  for await (const row of client.exports.users({ format: 'csv' })) row.id; // wrong
  client.exports.users({ format: 'xml' }); // wrong
  return session.botScor ?? score; // wrong
}

export function readDelivery(delivery: ReceivedDelivery): string | null {
  if (delivery.type === 'BotDetected') return delivery.payload.sessionId;
  if (delivery.type === 'TestDelivery') return delivery.payload.data.message;
  if (delivery.type === 'AlertTriggered') return delivery.payload.sessionId; // wrong
  if (delivery.type === 'Unknown') return null; // wrong
  return delivery.payload.sessionId; // wrong
}
