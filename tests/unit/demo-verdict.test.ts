import { expect, it } from 'vitest';
import { takeDemoCall } from '../../server/demo/verdict';
import { answerDemoVerdict } from '../../server/rest/demo-endpoint';
import type { Service } from '../../server/service';

const NONCE = 'ab'.repeat(16);
const CALLS_A_MINUTE = 600;

it('a tab that asks too often for its verdict gets 429, before the database is asked', async () => {
  const ask = () =>
    answerDemoVerdict(
      { demo: { integrationId: 'int_1', siteId: 'site_1' } } as unknown as Service,
      new Request('http://127.0.0.1/demo/verdict', { method: 'POST', body: NONCE }),
    );
  // All in one minute: these take less than a millisecond.
  for (let count = 0; count < 2 * CALLS_A_MINUTE; count++) takeDemoCall(NONCE);
  const response = await ask();
  expect([response.status, await response.text()]).toEqual([429, 'Too many calls\n']);
  expect(response.headers.get('retry-after')).toBe('60');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(takeDemoCall('cd'.repeat(16))).toBe(true);
});
