// Writes the generated part of every client from docs/openapi.json: `npm run clients`. `npm run clients -- NAME …` writes
// only the named ones.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { generatePython } from './generate-python.mjs';
import { generateOperations } from './mcp/generate.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DOCUMENT = join(ROOT, 'docs/openapi.json');
const run = promisify(execFile);

/**
 * The clients by name. `generate` makes a client's files from the document: their texts by their paths below the root. The
 * same document gives the same bytes. A further client is a further line.
 * @type {Record<string, (document: object) => Promise<Record<string, string>>>}
 */
export const CLIENTS = {
  typescript: async (document) => ({ 'clients/typescript/src/schema.ts': await generateTypes(document) }),
  python: generatePython,
  mcp: async (document) => ({ 'clients/mcp/src/operations.json': generateOperations(document) }),
};

/** The types of the document by openapi-typescript. */
async function generateTypes(document) {
  const home = await mkdtemp(join(tmpdir(), 'client-types-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(home, 'node_modules'));
    await writeFile(join(home, 'openapi.json'), JSON.stringify(document, prepare));
    // A field with a default may be left out of a request.
    const options = ['--default-non-nullable=false', '--output', join(home, 'schema.ts')];
    const command = await linkOpenApiTypescript(home);
    await run(process.execPath, [...command, join(home, 'openapi.json'), ...options]);
    return await readFile(join(home, 'schema.ts'), 'utf8');
  } finally {
    await rm(home, { recursive: true });
  }
}

/**
 * Links openapi-typescript into a folder that has the repository's `node_modules` above it. It looks for its compiler, which is an older
 * one than the repository's, next to itself. Answers how Node runs it.
 * @param {string} home
 */
export async function linkOpenApiTypescript(home) {
  const folder = join(home, 'tools/node_modules');
  await mkdir(folder, { recursive: true });
  await symlink(join(ROOT, 'node_modules/openapi-typescript'), join(folder, 'openapi-typescript'));
  await symlink(join(ROOT, 'node_modules/typescript-5'), join(folder, 'typescript'));
  return ['--preserve-symlinks', '--preserve-symlinks-main', join(folder, 'openapi-typescript/bin/cli.js')];
}

/**
 * A later version may add fields to an answer, so its objects are open. In types that would permit every misspelt name, so
 * objects with named fields are closed there. Examples of whole bodies only make the file longer.
 */
function prepare(_key, value) {
  if (value?.schema && value.responses === undefined) {
    const { example: _, examples: __, ...rest } = value;
    return rest;
  }
  if (!value?.properties || value.additionalProperties !== true) return value;
  const { additionalProperties: _, ...closed } = value;
  return closed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !(name in CLIENTS));
  if (unknown.length > 0) throw new Error(`no such client: ${unknown}; there are ${Object.keys(CLIENTS).join(', ')}`);
  const document = JSON.parse(await readFile(DOCUMENT, 'utf8'));
  for (const name of names.length > 0 ? names : Object.keys(CLIENTS)) {
    for (const [path, text] of Object.entries(await CLIENTS[name](document))) {
      await writeFile(join(ROOT, path), text);
      process.stdout.write(`${path}\n`);
    }
  }
}
