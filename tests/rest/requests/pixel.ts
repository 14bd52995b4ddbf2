import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { send, server } from './shared-server';

export function registerPixelTests(): void {
  describe('the pixel', () => {
    const { file, integrity } = JSON.parse(readFileSync('pixel/released/current.json', 'utf8'));
    const load = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });
    const DAY_S = 86_400;

    it.each([
      ['/pixel.js', 'public, max-age=3600'],
      [`/pixel/${file}`, `public, max-age=${365 * DAY_S}, immutable`],
    ])('%s is the current release, and pages of any origin may load it', async (path, caching) => {
      const response = await load(path, { origin: 'https://lms.example.edu' });
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, caching]);
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      const body = Buffer.from(await response.arrayBuffer());
      expect(`sha384-${createHash('sha384').update(body).digest('base64')}`).toBe(integrity);
      expect(file).toBe(`${createHash('sha256').update(body).digest('hex').slice(0, 16)}.js`);
    });

    it.each(['/pixel.js', `/pixel/${file}`])('%s is not sent again to a browser that has it', async (path) => {
      const etag = (await load(path)).headers.get('etag')!;
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const response = await load(path, { 'if-none-match': known });
        expect([known, response.status, await response.text()]).toEqual([known, 304, '']);
        expect(response.headers.get('access-control-allow-origin')).toBe('*');
      }
      expect((await load(path, { 'if-none-match': '"other"' })).status).toBe(200);
    });

    it('serves every release that the repository keeps', async () => {
      const released = readdirSync('pixel/released').filter((name) => name.endsWith('.js'));
      for (const name of released) expect([name, (await load(`/pixel/${name}`)).status]).toEqual([name, 200]);
    });

    it.each([
      ...[
        '/pixel',
        '/pixel/',
        '/pixel/current.json',
        '/pixel/0123456789abcdef.js',
        '/pixel.js/',
        '/pixel/../package.json',
      ],
      ...['/pixel/%2e%2e%2fpackage.json', `/pixel/${file}/`, `/pixel/${file.toUpperCase()}`],
    ])('%s is unknown', async (path) => {
      expect((await send('GET', path)).status).toBe(404);
    });

    it('is no part of the API document', async () => {
      const { paths } = await (await load('/openapi/v3.json')).json();
      expect(Object.keys(paths).filter((path) => path.includes('pixel'))).toEqual([]);
    });
  });
}
