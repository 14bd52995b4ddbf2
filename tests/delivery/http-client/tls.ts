import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { answer, ok } from '../../support/raw-receiver';
import { answered, CERTIFICATE, cleanups, clientFor, failed, receive } from './receivers';

export function registerTlsTests(): void {
  describe('TLS', () => {
    it('does not trust a certificate of an unknown authority, whatever the environment says', async () => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      const receiver = await receive(ok, { secure: true });
      const post = clientFor([`receiver.test:${receiver.port}`]);
      expect(await post(`https://receiver.test:${receiver.port}/`)).toEqual(failed('DEPTH_ZERO_SELF_SIGNED_CERT'));
      expect(receiver.requests).toEqual([]);
      vi.unstubAllEnvs();
    });
    it('fails against a receiver that speaks plain HTTP', async () => {
      const receiver = await receive(() => {});
      const result = clientFor([`receiver.test:${receiver.port}`])(`https://receiver.test:${receiver.port}/`);
      await vi.waitFor(() => expect(receiver.sockets.length).toBe(1));
      receiver.sockets[0]?.write(answer(400));
      expect(await result).toMatchObject({ kind: 'network', reason: expect.stringMatching(/^(EPROTO|ERR_SSL_\w+)$/) });
    });

    it('is verified against the name or address of the URL; proxy variables do not matter', async () => {
      const receiver = await receive(ok, { secure: true });
      const onIpv6 = await receive(ok, { secure: true, host: '::1' });
      const plain = await receive(ok);
      const directory = await mkdtemp(join(tmpdir(), 'webhook-tls-'));
      cleanups.push(() => rm(directory, { recursive: true }));
      await writeFile(join(directory, 'ca.pem'), CERTIFICATE);
      const urls = [
        `https://receiver.test:${receiver.port}/`,
        `https://RECEIVER.test.:${receiver.port}/`,
        `https://127.0.0.1:${receiver.port}/`,
        `https://other.test:${receiver.port}/`,
        `https://[::1]:${onIpv6.port}/`,
        `http://receiver.test:${plain.port}/`,
      ];
      const hosts = urls.map((url) => new URL(url).host);
      // Node reads NODE_EXTRA_CA_CERTS when a process starts, so this needs a new process.
      const program = `
      import { createWebhookClient } from './server/webhooks/http-client';
      const client = createWebhookClient({
        allowedHosts: new Set(${JSON.stringify(hosts)}),
        resolve: async () => ['127.0.0.1'],
      });
      const results = [];
      for (const url of ${JSON.stringify(urls)}) {
        results.push(await client.post({ url, headers: {}, body: '{}', timeoutMs: 5000 }));
      }
      await client.close();
      process.stdout.write(JSON.stringify(results));`;
      const deadProxy = 'http://127.0.0.1:1';
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '--eval', program],
        {
          env: {
            NODE_ENV: 'test',
            PATH: process.env.PATH,
            NODE_EXTRA_CA_CERTS: join(directory, 'ca.pem'),
            NODE_USE_ENV_PROXY: '1',
            ...{ HTTP_PROXY: deadProxy, HTTPS_PROXY: deadProxy, ALL_PROXY: deadProxy },
            ...{ http_proxy: deadProxy, https_proxy: deadProxy, all_proxy: deadProxy },
          },
        },
      );
      expect(JSON.parse(stdout)).toEqual([
        answered(200),
        answered(200),
        answered(200),
        failed('ERR_TLS_CERT_ALTNAME_INVALID'),
        failed('ERR_TLS_CERT_ALTNAME_INVALID', '::1'),
        answered(200),
      ]);
      expect([receiver.requests.length, onIpv6.requests.length, plain.requests.length]).toEqual([3, 0, 1]);
      const sockets = receiver.sockets as TLSSocket[];
      expect(sockets.map(({ alpnProtocol }) => alpnProtocol)).toEqual(sockets.map(() => 'http/1.1'));
      const names = sockets.map((socket) => (socket as TLSSocket & { servername: string | false }).servername);
      expect(names.slice(0, 3)).toEqual(['receiver.test', 'receiver.test', false]);
    });
  });
}
