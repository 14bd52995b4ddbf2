// Builds the pixel (`npm run pixel`). A file is named after its content. Released files, which CHANGELOG.md names, stay in
// the repository, because pages with `integrity` ask for them as long as they like.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'uglify-js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const RELEASED = join(HERE, 'released');
const CHANGELOG = join(HERE, '..', 'CHANGELOG.md');
const HASH_LENGTH = 16;

/**
 * Builds the sources. Answers the bytes, and what `current.json` says of them.
 * @returns {Promise<{ bytes: Uint8Array, current: { file: string, integrity: string } }>}
 */
export async function buildPixel() {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, 'main.ts')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2020',
    // Without `use strict`: what a page has frozen is not changed, and nothing throws.
    tsconfigRaw: '{}',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'error',
    write: false,
  });
  // Takes 5 % off what esbuild leaves.
  const { code, error } = minify(outputFiles[0].text, {
    compress: { passes: 4, inline: 1 },
    output: { quote_style: 2 },
  });
  if (error) throw error;
  const bytes = Buffer.from(code);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_LENGTH);
  const integrity = `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
  return { bytes, current: { file: `${hash}.js`, integrity } };
}

/**
 * Lists the files that are neither the current one nor released.
 * @param {string[]} files
 * @param {string} currentFile
 * @param {string} changelog
 */
export const listReplaced = (files, currentFile, changelog) =>
  files.filter((file) => file.endsWith('.js') && file !== currentFile && !changelog.includes(file));

/** Makes the sources the current file, and removes the one before if it was never released. */
async function writePixel() {
  const { bytes, current } = await buildPixel();
  mkdirSync(RELEASED, { recursive: true });
  for (const file of listReplaced(readdirSync(RELEASED), current.file, readFileSync(CHANGELOG, 'utf8')))
    rmSync(join(RELEASED, file));
  writeFileSync(join(RELEASED, current.file), bytes);
  writeFileSync(join(RELEASED, 'current.json'), `${JSON.stringify(current, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writePixel();
