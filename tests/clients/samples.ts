import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { closed, correlated, happened, scored, started } from '../support/facts';
import { type Receiver, waitUntil } from '../support/receiver';
import type { TestServer } from '../support/server';

// The samples of the document (`x-codeSamples`) are programs that work: each is run as it is written, except that ids which the
// product makes, and the address of the webhook, are those of the test. Those of the shell run in samples.test.ts, the others where
// the client of their language is installed.

const EXAMPLE = { webhook: 'whk_', delivery: 'dlv_', event: 'evt_', receipt: 'era_' };
const EXAMPLE_URL = 'https://example.com/hooks/bots';

interface Sample {
  operationId: string;
  method: string;
  source: string;
}

/** What is read first, what ends things last. */
const ORDER = ['get', 'post', 'put', 'patch', 'delete'];

/** Creates an integration that has what the samples name, and answers its key and the samples in a language. */
export async function prepareSamples(
  server: TestServer,
  receiver: Receiver,
  lang: 'Shell' | 'TypeScript' | 'Python',
): Promise<{ key: string; samples: Sample[] }> {
  const tenant = await server.createTenant('enterprise');
  const scopes = ['read', 'sessions:write', 'webhooks:write', 'settings:write', 'users:erase'] as const;
  const { key } = await mintKey(asOperator(server.database.db), {
    ...{ integrationId: tenant.id, name: 'samples', scopes: [...scopes] },
  });
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, path, { key, body });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body.data;
  };
  const webhook = await call('POST', '/v1/webhooks', { url: receiver.url, eventType: 'BotDetected' });
  const user = (id: string) => ({ user: { id, name: id } });
  await server.ingest(tenant.id, [
    started('ses_5Hk2mQ', { deviceFingerprint: '4be81f0c9a7d2210' }),
    correlated('ses_5Hk2mQ', 'lms-4711', user('lms-4711')),
    happened('ses_5Hk2mQ', [{ sequence: 0, url: 'https://lms.example.edu/' }]),
    scored('ses_5Hk2mQ', 0.93),
    closed('ses_5Hk2mQ'),
    started('of-another'),
    correlated('of-another', 'erased-before', user('erased-before')),
  ]);
  const listDelivered = async () =>
    (await call('GET', `/v1/webhooks/${webhook.id}/deliveries`)).filter(
      ({ status }: { status: string }) => status === 'Delivered',
    );
  await waitUntil(async () => (await listDelivered()).length === 1);
  const ids: Record<keyof typeof EXAMPLE, string> = {
    webhook: webhook.id,
    delivery: (await listDelivered())[0].id,
    event: (await call('GET', '/v1/webhook-events'))[0].id,
    receipt: (await call('DELETE', '/v1/users/erased-before')).id,
  };
  const adapt = (source: string) =>
    Object.entries(EXAMPLE)
      .reduce(
        (text, [kind, prefix]) =>
          text.replaceAll(new RegExp(`\\b${prefix}[0-9a-f]{32}\\b`, 'g'), ids[kind as keyof typeof EXAMPLE]),
        source,
      )
      .replaceAll(EXAMPLE_URL, receiver.url);
  const { body: document } = await server.call('GET', '/openapi/v3.json');
  const samples = Object.values<Record<string, Operation>>(document.paths).flatMap((methods) =>
    Object.entries(methods).map(([method, operation]) => {
      const { source } = operation['x-codeSamples'].find((one) => one.lang === lang)!;
      return { operationId: operation.operationId, method, source: adapt(source) };
    }),
  );
  return { key, samples: samples.sort((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method)) };
}

interface Operation {
  operationId: string;
  'x-codeSamples': { lang: string; source: string }[];
}

/** Writes the samples into files, one each. Answers their names in order. */
export async function writeSamples(folder: string, samples: Sample[], extension: string): Promise<string[]> {
  return Promise.all(
    samples.map(async ({ operationId, source }) => {
      const name = `${operationId}.${extension}`;
      await writeFile(join(folder, name), source);
      return name;
    }),
  );
}

/** Each sample has printed something, except those of operations that answer nothing. */
export function expectOutput(stdout: string, samples: Sample[]) {
  const parts = stdout.split(/^== (\w+)\n/m).slice(1);
  const silent = samples.flatMap(({ operationId }, index) =>
    parts[2 * index + 1]!.trim() === '' ? [operationId] : [],
  );
  expect(parts.filter((_, index) => index % 2 === 0)).toEqual(samples.map(({ operationId }) => operationId));
  expect(silent).toEqual(['deleteWebhook']);
}
