import { expect } from 'vitest';
import { isRouterState } from '../../../server/next-internals';
import { describeReaches, readVersion } from './reaches';

export function registerNextReaches(): void {
  describeReaches(
    'next',
    { version: readVersion('next'), writtenFor: /^16\.4\./, file: 'server/next-internals.ts' },
    {
      'the function that reads `Next-Router-State-Tree` takes what pages send, and throws at anything else':
        async () => {
          const page = ['', { children: ['sign-in', { children: ['__PAGE__', {}] }] }, null, null];
          expect(await isRouterState(encodeURIComponent(JSON.stringify(page)))).toBe(true);
          for (const state of ['', 'no tree', '%', '[]', '{}', '["",{"a":[]}]', `["${'x'.repeat(50_000)}",{}]`])
            expect([state, await isRouterState(state)]).toEqual([state, false]);
        },
    },
  );
}
