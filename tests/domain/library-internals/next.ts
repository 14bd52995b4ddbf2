import { createRequire } from 'node:module';
import { expect } from 'vitest';
import { ignoreEnvFiles, isRouterState } from '../../../server/next-internals';
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
      'a variable of the environment says that `.env` files were read': async () => {
        const { processEnv } = createRequire(createRequire(import.meta.url).resolve('next'))('@next/env');
        try {
          ignoreEnvFiles();
          processEnv([{ path: '.env', contents: 'SETTING_OF_A_FILE=1', env: {} }]);
          expect(process.env.SETTING_OF_A_FILE).toBeUndefined();
        } finally {
          for (const name of ['__NEXT_PROCESSED_ENV', 'SETTING_OF_A_FILE']) delete process.env[name];
        }
      },
    },
  );
}
