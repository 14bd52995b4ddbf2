import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

export interface SourceFile {
  /** Relative to the project, with slashes: `server/rest/request.ts`. */
  path: string;
  text: string;
  /** Paths of the project's files that it imports. */
  internal: string[];
  /** Imports from packages and from Node, as they are written. */
  external: string[];
}

/** Where the project's sources are. The released pixels and what a client has in `dist` are built from them. */
export const SOURCE_ROOTS = [
  'app',
  'proxy.ts',
  'instrumentation.ts',
  'next.config.js',
  'server',
  'db',
  'inngest',
  'contract',
  'pixel',
  'clients',
];

/** Files that are built or generated. */
const MADE = /^(pixel\/released\/|clients\/[^/]+\/(dist|node_modules)\/|clients\/typescript\/src\/schema\.ts$)/;

/**
 * Static, side-effect and dynamic imports, and re-exports, of types too. Biome formats all of them so that these
 * patterns match.
 */
const IMPORTS = [
  /^(?:import|export)\b[^'";]*?\bfrom\s+'([^']+)'/gm,
  /^import\s+'([^']+)'/gm,
  /\bimport\(\s*'([^']+)'\s*\)/g,
  /\brequire\(\s*'([^']+)'\s*\)/g,
];

/** Finds the specifiers that a source text imports. */
export function findImports(text: string): string[] {
  return IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!));
}

/** Reads source files, and all files below directories. Throws if an import of the project's files leads nowhere. */
export function readSources(roots: string[]): SourceFile[] {
  const paths = roots.flatMap((root) =>
    statSync(root).isFile()
      ? [root]
      : readdirSync(root, { recursive: true, encoding: 'utf8' })
          .map((name) => join(root, name).split(sep).join('/'))
          .filter((path) => /\.(ts|tsx|js|mjs)$/.test(path) && !MADE.test(path))
          .filter((path) => statSync(path).isFile()),
  );
  return paths.sort().map((path) => {
    const text = readFileSync(path, 'utf8');
    const specifiers = findImports(text);
    const isInternal = (specifier: string) => specifier.startsWith('.');
    return {
      path,
      text,
      internal: specifiers.filter(isInternal).map((specifier) => resolveFile(path, specifier)),
      external: specifiers.filter((specifier) => !isInternal(specifier)),
    };
  });
}

function resolveFile(from: string, specifier: string): string {
  const target = normalize(join(dirname(from), specifier))
    .split(sep)
    .join('/');
  // Packages that Node runs name the compiled file.
  const source = target.replace(/\.js$/, '.ts');
  const candidates = [target, source, `${target}.ts`, `${target}.tsx`, `${target}/index.ts`];
  const found = candidates.find((path) => existsSync(path) && statSync(path).isFile());
  if (!found) throw new Error(`${from} imports ${specifier}, which leads nowhere`);
  return found;
}

/** Finds a cycle in a graph. Returns the path around it, or null if there is none. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const visit = (node: string, trail: string[]): string[] | null => {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...trail, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return null;
}
