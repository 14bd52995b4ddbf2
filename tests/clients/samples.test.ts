import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { expectOutput, prepareSamples } from './samples';

const run = promisify(execFile);

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

describe('the samples of the document', () => {
  it('work in a shell', async () => {
    const { key, samples } = await prepareSamples(server, receiver, 'Shell');
    const script = samples.map(({ operationId, source }) => `echo "== ${operationId}"\n${source}\necho`).join('\n');
    const env = { PATH: process.env.PATH, NODE_ENV: 'test' as const, BASE: server.url, KEY: key };
    const { stdout } = await run('bash', ['-e', '-c', script], { env, maxBuffer: 2 ** 24 });
    expectOutput(stdout, samples);
  });
});
