// Builds what `npm start` and `npm run admin` run. esbuild bundles each entry of server/ into dist/, together with most
// packages: loading their many small files one by one would take a quarter of the CPU time of a start. `next build` makes
// the dashboard and the route handlers in .next/.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdBuildLock } from './build-lock.mjs';
import { EXTERNAL_PACKAGES } from './external-packages.mjs';

const ENTRIES = { main: 'server/main.ts', admin: 'server/admin.ts' };
/** What is there when a part is built. `rm -r dist/*` leaves the stamps of both. */
const OUTPUTS = { server: Object.keys(ENTRIES).map((name) => `dist/${name}.mjs`), next: ['.next/BUILD_ID'] };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const SOURCES = [
  'app',
  'contract',
  'server',
  'db',
  'inngest',
  'pixel',
  'proxy.ts',
  'instrumentation.ts',
  'next.config.js',
  'postcss.config.mjs',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
];

let fingerprint;

/** Hashes everything that goes into a build, once. */
function fingerprintSources() {
  fingerprint ??= hashSources();
  return fingerprint;
}

function hashSources() {
  const hash = createHash('sha256');
  const add = (path) => hash.update(path).update('\0').update(readFileSync(path)).update('\0');
  for (const source of SOURCES) {
    if (!existsSync(source)) continue;
    const isFile = /\.[a-z]+$/.test(source);
    const files = isFile ? [source] : listFiles(source);
    for (const file of files.sort()) add(file);
  }
  return hash.digest('hex');
}

function listFiles(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

/**
 * Builds one part, `server` or `next`, unless the last build used the same sources. Build output goes to stderr,
 * because stdout belongs to the program.
 */
export async function buildIfNeeded(part) {
  const stamp = `dist/.${part}-built`;
  const fingerprint = fingerprintSources();
  const isBuilt = () =>
    existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint && OUTPUTS[part].every((path) => existsSync(path));
  if (isBuilt()) return;
  const release = await holdBuildLock('dist/.lock');
  try {
    // Another process may have built it in the meantime.
    if (isBuilt()) return;
    // A build that does not end has replaced some of the output. The sources may then become again those of the last one that did.
    rmSync(stamp, { force: true });
    await (part === 'server' ? bundleServer() : buildNext());
    writeFileSync(stamp, fingerprint);
  } finally {
    release();
  }
}

async function bundleServer() {
  const { build } = await import('esbuild').catch(() =>
    fail('Building needs the development packages: npm install --include=dev'),
  );
  await build({
    entryPoints: ENTRIES,
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    external: [...EXTERNAL_PACKAGES, 'next'],
    // For packages in CommonJS that require modules of Node.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
    },
    platform: 'node',
    format: 'esm',
    target: 'node20.9',
    sourcemap: true,
    // A trace names the lines of the sources, not their text.
    sourcesContent: false,
    logLevel: 'error',
  });
}

/** A signal ends the build too: one that is left behind would keep the next start from building. */
async function buildNext() {
  process.stderr.write('Building (once; about a minute) …\n');
  const next = join('node_modules', 'next', 'dist', 'bin', 'next');
  const build = spawn(process.execPath, [next, 'build'], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  let received;
  const end = (signal) => {
    received = signal;
    build.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  const [code] = await once(build, 'exit');
  for (const signal of SIGNALS) process.removeListener(signal, end);
  if (received) process.kill(process.pid, received);
  if (code !== 0) fail('The build failed.');
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
