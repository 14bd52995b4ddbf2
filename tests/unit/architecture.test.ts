import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findCycle, findImports, readSources, type SourceFile } from '../support/imports';

// The import law (architecture: Tree), on the import statements as they are. Imports of types count too: what a type
// names, a reader has to know.

/** The rooms from the doors inwards: each with the files in it and the rooms that it may import. */
const ROOMS: Record<string, { files: RegExp; mayImport: string[] }> = {
  // What Next finds by name; instrumentation.ts starts with its process, proxy.ts stands before its pages.
  app: {
    files: /^(app\/|instrumentation\.ts$|proxy\.ts$)/,
    mayImport: ['http-server', 'rest', 'procedures', 'service', 'contract'],
  },
  // The commands that start a process: they put everything together.
  entries: {
    files: /^server\/(main|admin|runtime)\.ts$|^server\/(start|build)\.mjs$/,
    mayImport: ['http-server', 'demo', 'service', 'webhooks', 'domain', 'auth', 'audit', 'db', 'platform', 'contract'],
  },
  'http-server': {
    files: /^server\/(http-server|http-limits|next-server|metrics-server|node-http-internals)\.ts$/,
    mayImport: ['rest', 'service', 'platform'],
  },
  rest: {
    files: /^server\/rest\//,
    mayImport: ['procedures', 'service', 'domain', 'auth', 'db', 'platform', 'contract'],
  },
  procedures: {
    files: /^server\/procedures\//,
    mayImport: ['service', 'pipeline', 'webhooks', 'domain', 'auth', 'audit', 'contract'],
  },
  demo: { files: /^server\/demo\//, mayImport: ['service', 'pipeline', 'domain', 'auth', 'audit', 'contract'] },
  service: {
    files: /^server\/service\.ts$/,
    mayImport: ['inngest', 'engine', 'pipeline', 'webhooks', 'domain', 'db', 'platform'],
  },
  inngest: {
    files: /^inngest\/(?!embedded\/)/,
    mayImport: ['pipeline', 'webhooks', 'domain', 'db', 'platform', 'contract'],
  },
  // Speaks Inngest's protocol and knows nothing of the product.
  engine: { files: /^inngest\/embedded\//, mayImport: [] },
  pipeline: {
    files: /^server\/pipeline\//,
    mayImport: ['webhooks', 'domain', 'db', 'platform', 'contract'],
  },
  webhooks: { files: /^server\/webhooks\//, mayImport: ['domain', 'audit', 'db', 'platform', 'contract'] },
  // Accounts and sessions of staff: beside the domain, which knows integrations only.
  auth: { files: /^server\/auth\//, mayImport: ['audit', 'db', 'platform', 'contract'] },
  domain: { files: /^server\/domain\//, mayImport: ['audit', 'db', 'platform', 'contract'] },
  // Written in the transactions of domain and auth.
  audit: { files: /^server\/audit\//, mayImport: ['db', 'platform', 'contract'] },
  // Reads its words (plans, statuses, event types) from the contract.
  db: { files: /^db\//, mayImport: ['contract'] },
  platform: { files: /^server\/platform\//, mayImport: ['contract'] },
  contract: { files: /^contract\//, mayImport: [] },
};

/** Packages that stay in some rooms, or in single files. */
const PACKAGES: { package: string; onlyIn: RegExp }[] = [
  { package: 'drizzle-orm', onlyIn: /^(?!app\/|server\/rest\/|server\/procedures\/)/ },
  // server/main.ts is Next's custom server.
  { package: 'next', onlyIn: /^(app\/|proxy\.ts$|server\/main\.ts$)/ },
  { package: 'react', onlyIn: /^app\// },
  { package: 'inngest', onlyIn: /^(inngest\/|server\/service\.ts$)/ },
];

const MAX_LINES = 400;
const JUNK_DRAWER = /(^|[/._-])(utils?|helpers?|common|misc)([/._-]|$)/i;

const sources = readSources(['app', 'contract', 'instrumentation.ts', 'proxy.ts', 'server', 'db', 'inngest']);
const roomOf = (path: string) => Object.keys(ROOMS).find((room) => ROOMS[room]!.files.test(path));
const list = (find: (file: SourceFile) => string[]) => sources.flatMap(find);

describe('the import law', () => {
  it('is read off real imports', () => {
    expect(sources.length).toBeGreaterThan(80);
    expect(list(({ internal }) => internal).length).toBeGreaterThan(200);
    const text = `import a from 'a';\nimport {\n  b,\n  type B,\n} from './b';\nimport type { C } from 'c';\nimport 'd';
export * from './e';\nexport { f } from 'f';\nconst g = await import('./g');\nconst from = 'not this';\n// import h from 'h';`;
    expect(findImports(text).sort()).toEqual(['./b', './e', './g', 'a', 'c', 'd', 'f']);
  });

  it('has a room for every file', () => {
    expect(list(({ path }) => (roomOf(path) ? [] : [path]))).toEqual([]);
  });

  it('lets imports point one way', () => {
    const rooms = new Map(Object.entries(ROOMS).map(([room, { mayImport }]) => [room, mayImport]));
    expect(findCycle(rooms)).toBeNull();
    const violations = list(({ path, internal }) => {
      const room = roomOf(path)!;
      const isAllowed = (target: string) => {
        const other = roomOf(target);
        return other === room || (other !== undefined && ROOMS[room]!.mayImport.includes(other));
      };
      return internal.filter((to) => !isAllowed(to)).map((to) => `${path} → ${to}`);
    });
    expect(violations).toEqual([]);
  });

  it('allows no cycles between files', () => {
    expect(
      findCycle(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', ['b']],
        ]),
      ),
    ).toEqual(['b', 'c', 'b']);
    expect(findCycle(new Map(sources.map(({ path, internal }) => [path, internal])))).toBeNull();
  });

  it.each(PACKAGES)('keeps $package to its rooms', ({ package: name, onlyIn }) => {
    const isIt = (specifier: string) => specifier === name || specifier.startsWith(`${name}/`);
    const users = sources.filter(({ external }) => external.some(isIt)).map(({ path }) => path);
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter((path) => !onlyIn.test(path))).toEqual([]);
  });

  it('keeps the contract to zod', () => {
    const contract = sources.filter(({ path }) => roomOf(path) === 'contract');
    expect(contract.length).toBeGreaterThan(5);
    expect(new Set(contract.flatMap(({ external }) => external))).toEqual(new Set(['zod']));
  });

  it('keeps TRPCError to procedures and rest', () => {
    expect(
      list(({ path, text }) =>
        /\bTRPCError\b/.test(text) && !/^server\/(procedures|rest)\//.test(path) ? [path] : [],
      ),
    ).toEqual([]);
  });
});

describe('a source file', () => {
  it('has a name that says what is in it', () => {
    const tests = readdirSync('tests', { recursive: true, encoding: 'utf8' });
    expect([...sources.map(({ path }) => path), ...tests].filter((path) => JUNK_DRAWER.test(path))).toEqual([]);
    expect(
      ['server/utils.ts', 'db/date-helpers.ts', 'server/common/x.ts'].every((path) => JUNK_DRAWER.test(path)),
    ).toBe(true);
  });

  it(`has at most ${MAX_LINES} lines`, () => {
    const lengths = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > MAX_LINES)).toEqual([]);
  });
});
