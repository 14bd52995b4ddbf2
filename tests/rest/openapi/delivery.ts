import { describe, expect, it } from 'vitest';
import { server } from './shared-document';

export function registerDeliveryTests(): void {
  describe('its delivery', () => {
    it('has ETag, CORS, cache headers and a length', async () => {
      const { status, headers, text } = await server.call('GET', '/openapi/v3.json');
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(/^application\/json\b/);
      expect(headers.get('etag')).toMatch(/^"[^"]+"$/);
      expect(headers.get('cache-control')).toBe('public, max-age=300');
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    });

    it('is always 200, also for a client that already has it', async () => {
      const first = await server.call('GET', '/openapi/v3.json');
      const etag = first.headers.get('etag')!;
      const conditions = [
        ['if-none-match', etag],
        ['if-none-match', '*'],
        ['if-modified-since', new Date().toUTCString()],
      ];
      for (const [name, value] of conditions) {
        const again = await server.call('GET', '/openapi/v3.json', { headers: { [name!]: value! } });
        expect([again.status, again.headers.get('etag'), again.text]).toEqual([200, etag, first.text]);
      }
    });

    it('ignores a query', async () => {
      expect((await server.call('GET', '/openapi/v3.json?x=1')).status).toBe(200);
    });

    it('is the only answer with CORS', async () => {
      const { key } = await server.createTenant();
      for (const path of ['/health', '/swagger', '/v1/sessions', '/v1/unknown']) {
        const { headers } = await server.call('GET', path, { key, headers: { origin: 'https://evil.example' } });
        expect([path, headers.get('access-control-allow-origin')]).toEqual([path, null]);
      }
    });
  });

  describe('/swagger', () => {
    it('is a page without inline script, under a policy that allows none', async () => {
      const { status, headers, text } = await server.call('GET', '/swagger');
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(/^text\/html/);
      for (const [tag, attributes, content] of [...text.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)])
        expect([tag, /\bsrc="/.test(attributes!), content]).toEqual([tag, true, '']);
      expect(text).not.toMatch(/\son\w+\s*=|javascript:|<style/i);
      const policy = Object.fromEntries(
        (headers.get('content-security-policy') ?? '').split(';').map((directive) => {
          const [name, ...values] = directive.trim().split(/\s+/);
          return [name, values];
        }),
      );
      expect(policy['script-src']).toEqual(["'self'"]);
      expect(policy['default-src']).toEqual(["'none'"]);
      expect(policy['frame-ancestors']).toEqual(["'none'"]);
      expect(policy['connect-src']).toEqual(["'self'"]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    });

    it('loads only its own assets, and each exists', async () => {
      const { text } = await server.call('GET', '/swagger');
      const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
      expect(links.length).toBeGreaterThanOrEqual(3);
      const types: Record<string, RegExp> = { css: /^text\/css/, js: /javascript/, png: /^image\/png/ };
      for (const link of links) {
        expect(link).toMatch(/^\/swagger\//);
        const asset = await server.call('GET', link);
        expect([link, asset.status]).toEqual([link, 200]);
        expect(asset.headers.get('content-type')).toMatch(types[link.split('.').at(-1)!]!);
        expect(asset.headers.get('content-security-policy')).toMatch(/script-src 'self'/);
        expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
        expect(asset.text.length).toBeGreaterThan(50);
      }
    });

    it('also answers with a trailing slash, and calls / whatever the document’s servers are', async () => {
      const slashed = await server.call('GET', '/swagger/');
      expect([slashed.status, slashed.headers.get('location')]).toEqual([200, null]);
      const start = await server.call('GET', '/swagger/start.js');
      expect(start.text).toContain('/openapi/v3.json');
      expect(start.text).toMatch(/servers = \[\{ url: '\/' \}\]/);
    });

    it.each([
      'unknown.js',
      '..%2Fpackage.json',
      '%2e%2e/package.json',
      'constructor',
      '__proto__',
      'package.json',
      'index.html',
    ])('serves no other file: /swagger/%s', async (name) => {
      expect((await server.call('GET', `/swagger/${name}`)).status).toBe(404);
    });
  });
}
