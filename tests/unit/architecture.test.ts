import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findCycle, findImports, readSources, SOURCE_ROOTS, type SourceFile } from '../support/imports';

// The import law, checked on the import statements in the files. Imports of types count too: a reader has to know the
// types that a file names.

/**
 * The law: one row per layer, from the top to the bottom. A row has the layer's files (the longest matching path
 * decides) and the layers that it may import. An import points down this table, never up. Layers of one folder stand
 * together, so the folders are in this order too: app → server → {db, inngest} → contract.
 */
const LAW: [layer: string, files: string, mayImport: string][] = [
  // Files that Next finds by name.
  ['app', 'app/ proxy.ts next.config.js', 'rest procedures service detection contract'],
  // What starts a process: the commands, which put everything together, and what Next calls first.
  [
    'entries',
    'server/main.ts server/admin.ts server/commands.ts server/runtime.ts server/start.mjs server/build.mjs server/build-lock.mjs instrumentation.ts',
    'http-server demo service collector webhooks domain auth audit platform db contract',
  ],
  [
    'http-server',
    'server/http-server.ts server/http-limits.ts server/node-http-internals.ts server/next-internals.ts server/metrics-server.ts',
    'rest service platform',
  ],
  ['rest', 'server/rest/', 'procedures demo service domain auth platform db contract'],
  ['procedures', 'server/procedures/', 'service pipeline webhooks domain auth audit contract'],
  ['demo', 'server/demo/', 'service collector pipeline domain detection auth audit db contract'],
  [
    'service',
    'server/service.ts server/jobs.ts server/external-packages.mjs',
    'erasure findings collector reports pipeline webhooks domain auth platform db inngest engine',
  ],
  // Takes a person out of everything that is stored.
  ['erasure', 'server/erasure/', 'collector reports domain platform db contract'],
  // Judges committed facts, and sends what it finds as facts.
  ['findings', 'server/findings/', 'pipeline domain detection audit platform db contract'],
  // Takes what the pixel sends, keeps the sessions and turns them into facts.
  ['collector', 'server/collector/', 'pipeline detection domain audit platform db contract'],
  // Files made of what is stored: templates, formats, stores.
  ['reports', 'server/reports/', 'pipeline domain audit platform db contract'],
  ['pipeline', 'server/pipeline/', 'webhooks domain platform db contract'],
  ['webhooks', 'server/webhooks/', 'domain audit platform db contract'],
  ['domain', 'server/domain/', 'detection audit platform db contract'],
  // Pure: from a trace to findings and a score. No input or output, no clock, no randomness.
  ['detection', 'server/detection/', 'contract'],
  // Staff accounts and staff sessions. They stand next to the domain, which knows integrations only.
  ['auth', 'server/auth/', 'audit platform db contract'],
  // Audit records are written in the transactions of domain and auth.
  ['audit', 'server/audit/', 'platform db contract'],
  ['platform', 'server/platform/', 'contract'],
  // The schema takes its words (plans, statuses, event types) from the contract.
  ['db', 'db/', 'contract'],
  // What browsers run on a customer's page.
  ['pixel', 'pixel/', 'contract'],
  // What customers install. It knows the API by its document alone.
  ['clients', 'clients/', ''],
  // The functions say when something runs. The service gives them what to run.
  ['inngest', 'inngest/', 'contract'],
  // Speaks Inngest's protocol and knows nothing of the product.
  ['engine', 'inngest/embedded/', ''],
  ['contract', 'contract/', ''],
];

/** Packages that only some layers, or single files, may import. */
const PACKAGES: { package: string; onlyIn: RegExp }[] = [
  { package: 'drizzle-orm', onlyIn: /^(?!app\/|server\/rest\/|server\/procedures\/)/ },
  // server/main.ts is Next's custom server.
  { package: 'next', onlyIn: /^(app\/|proxy\.ts$|next\.config\.js$|server\/(main|next-internals)\.ts$)/ },
  { package: 'react', onlyIn: /^app\// },
  { package: 'inngest', onlyIn: /^(inngest\/|server\/service\.ts$)/ },
];

const MAX_LINES = 400;
const JUNK_DRAWER = /(^|[/._-])(utils?|helpers?|common|misc)([/._-]|$)/i;

const LAYERS = LAW.map(([name, files, mayImport]) => ({
  name,
  files: files.split(' '),
  mayImport: mayImport.split(' ').filter(Boolean),
}));

const sources = readSources(SOURCE_ROOTS);
/** Finds the layer with the longest path that matches a file. */
function findLayer(path: string) {
  const isOf = (place: string) => (place.endsWith('/') ? path.startsWith(place) : path === place);
  const found = LAYERS.flatMap((layer) => layer.files.filter(isOf).map((place) => ({ layer, place })));
  return found.sort((a, b) => b.place.length - a.place.length)[0]?.layer;
}
const list = (find: (file: SourceFile) => string[]) => sources.flatMap(find);

describe('the import law', () => {
  it('is checked on real imports', () => {
    expect(sources.length).toBeGreaterThan(80);
    expect(list(({ internal }) => internal).length).toBeGreaterThan(200);
    const text = `import a from 'a';\nimport {\n  b,\n  type B,\n} from './b';\nimport type { C } from 'c';\nimport 'd';
export * from './e';\nexport { f } from 'f';\nconst g = await import('./g');\nconst from = 'not this';\n// import h from 'h';`;
    expect(findImports(text).sort()).toEqual(['./b', './e', './g', 'a', 'c', 'd', 'f']);
  });

  it('has a layer for every file', () => {
    expect(list(({ path }) => (findLayer(path) ? [] : [path]))).toEqual([]);
  });

  it('lets layers import only what stands below them', () => {
    const names = LAYERS.map(({ name }) => name);
    const upwards = LAYERS.flatMap(({ name, mayImport }, index) =>
      mayImport.filter((other) => names.indexOf(other) <= index).map((other) => `${name} → ${other}`),
    );
    expect(upwards).toEqual([]);
  });

  it('keeps the layers of a folder together in the table', () => {
    const folders = LAYERS.map(({ files }) => files[0]!.split('/')[0]);
    expect(folders.filter((folder, index) => folder !== folders[index - 1])).toEqual([
      'app',
      'server',
      'db',
      'pixel',
      'clients',
      'inngest',
      'contract',
    ]);
    const sideBySide = LAYERS.filter(({ name }) => ['db', 'pixel', 'clients', 'inngest', 'engine'].includes(name));
    expect(new Set(sideBySide.flatMap(({ mayImport }) => mayImport))).toEqual(new Set(['contract']));
  });

  it('is kept by every import', () => {
    const violations = list(({ path, internal }) => {
      const layer = findLayer(path)!;
      const allowed = [layer.name, ...layer.mayImport];
      return internal
        .filter((to) => !allowed.includes(findLayer(to)?.name ?? 'nowhere'))
        .map((to) => `${path} → ${to}`);
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

  it.each(PACKAGES)('keeps $package to its layers', ({ package: name, onlyIn }) => {
    const isIt = (specifier: string) => specifier === name || specifier.startsWith(`${name}/`);
    const users = sources.filter(({ external }) => external.some(isIt)).map(({ path }) => path);
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter((path) => !onlyIn.test(path))).toEqual([]);
  });

  it('lets the contract import only zod', () => {
    const contract = sources.filter(({ path }) => findLayer(path)?.name === 'contract');
    expect(contract.length).toBeGreaterThan(5);
    expect(new Set(contract.flatMap(({ external }) => external))).toEqual(new Set(['zod']));
  });

  it('lets the TypeScript client import no package, not even one of Node, because it runs anywhere', () => {
    const client = sources.filter(({ path }) => path.startsWith('clients/typescript/src/'));
    expect(client.length).toBeGreaterThan(5);
    expect(client.flatMap(({ external }) => external)).toEqual([]);
  });

  it('keeps TRPCError inside procedures and rest', () => {
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
