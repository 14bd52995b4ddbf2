import { describe, expect, it } from 'vitest';
import { readSources, SOURCE_ROOTS } from '../support/imports';
import { registerEngineReaches } from './library-internals/engine';
import { registerNextReaches } from './library-internals/next';
import { registerNodeReaches } from './library-internals/node';
import { registerPostgresReaches } from './library-internals/postgres';
import { registerTrpcReaches } from './library-internals/trpc-and-zod';

// After an upgrade of a library, these tests say which of its internals we depend on and whether they still behave as
// before. Each test drives one reach on the real library, through the file that contains it.

/** Signs of a reach, as far as the text shows one. */
const REACH =
  /'next\/dist\/|__NEXT_|\._def\b|\._zod\b|\bunstable-|\b_private_|\.parseAsync\s*=|\.parsers\b|\.prototype\b|\b_handle\b|Listener\('secure'|'inngest:als'/;

describe('reaches into libraries', () => {
  it('are only in files that are named for it', () => {
    // The pixel runs in browsers, on their prototypes.
    const sources = readSources(SOURCE_ROOTS).filter(({ path }) => !path.startsWith('pixel/'));
    const reaching = sources.filter(({ text }) => REACH.test(text)).map(({ path }) => path);
    expect(reaching.filter((path) => !path.endsWith('-internals.ts'))).toEqual([]);
    expect(reaching).toEqual(sources.map(({ path }) => path).filter((path) => path.endsWith('-internals.ts')));
  });
});

registerTrpcReaches();
registerPostgresReaches();
registerEngineReaches();
registerNodeReaches();
registerNextReaches();
