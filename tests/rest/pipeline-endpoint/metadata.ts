import { describe, expect, it } from 'vitest';
import { started } from '../../support/facts';
import { accept, events, expectCounts, server, sql } from './two-servers';

export function registerMetadataTests(): void {
  describe('metadata', () => {
    it.each<[string, Record<string, unknown>]>([
      ['empty', {}],
      ['empty names', { '': '' }],
      ['names of the language', JSON.parse('{"constructor":{"prototype":1},"toString":"x","hasOwnProperty":null}')],
      ['the name __proto__', JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":[]}}')],
      ['emoji and combining characters', { '😀': 'e\u0301', text: '\u200d\ufeff' }],
      ['what looks like an escape', { a: '\\u0000', b: '\\ud800', c: "'", d: '"', e: '\\' }],
      [
        'numbers',
        { big: 9_007_199_254_740_991, small: 5e-324, negative: -1.5, large: 1e300, many: Array(50).fill(1e308) },
      ],
      ['all kinds of values', { a: null, b: true, c: [1, 'x', [null, {}]], d: { e: { f: [] } } }],
      ['U+2028 and control characters', { a: '\u2028\u2029\u0001\u001f\u007f' }],
    ])('of %s is kept as it is, and known again', async (_what, metadata) => {
      const tenant = await server.createTenant();
      const facts = [started('s'), events('s', [1], { metadata, timestamp: '2026-01-01T00:00:00Z' })];
      await accept(tenant, facts);
      const [row] = await sql()`select metadata from session_events where integration_id = ${tenant.id}`;
      expect(row!.metadata).toEqual(metadata);
      const shown = await server.call('GET', '/v1/sessions/s/events', tenant);
      expect(shown.body.data[0].metadata).toEqual(metadata);
      expectCounts(await server.ingest(tenant.id, facts), 0, 2);
    });

    it('keeps what a visitor made too long up to a limit, and knows it again', async () => {
      const tenant = await server.createTenant();
      const pageUrl = `https://x.edu/courses/7?${'p'.repeat(5_000)}`;
      const facts = [
        started('s', { pageUrl, userAgent: `Chrome/142.0 ${'😀'.repeat(3_000)}` }),
        started('t', { pageUrl: `https://x.edu/ultra/courses/${'c'.repeat(600)}/outline` }),
        events('s', [1], { url: pageUrl }),
      ];
      await accept(tenant, facts);
      const [row] = await sql()`
      select length(page_url) as page, length(user_agent) as agent, length(user_agent_summary) as summary, browser,
             (select array_agg(name) from courses c where c.integration_id = s.integration_id) as courses,
             (select length(url) from session_events e where e.integration_id = s.integration_id) as event
        from sessions s where integration_id = ${tenant.id} and id = 's'`;
      expect(row).toEqual({
        page: 2_048,
        agent: 2_048,
        summary: 10,
        browser: 'Chrome',
        courses: ['Course 7'],
        event: 2_048,
      });
      const repeated = await server.ingest(tenant.id, facts);
      expect(repeated.body.result.data).toEqual({ accepted: 0, duplicates: 3, suppressed: 0 });
    });

    it('of null is no metadata', async () => {
      const tenant = await server.createTenant();
      await accept(tenant, [started('s'), events('s', [1], { metadata: null, url: null, durationMs: null })]);
      const [row] = await sql()`select metadata, url from session_events where integration_id = ${tenant.id}`;
      expect(row).toMatchObject({ metadata: null, url: null });
    });
  });
}
