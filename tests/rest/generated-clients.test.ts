import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closed, scored, started } from '../support/facts';
import { type ClientKind, PROGRAMS, type ProgramOutput } from '../support/generators/programs';
import { installPythonTools, run } from '../support/generators/python-tools';
import { startTestServer, type TestServer } from '../support/server';

// Clients that generators make from the document, with the generators' default options: they compile, and work against the
// server and against a later version of it.

const EXPECTED: ProgramOutput = {
  pages: [['newest', 'scored'], ['oldest']],
  session: [0.75, 'bot'],
  label: ['bot', null, 'n'],
  webhook: ['BotDetected', [0.5, 'x', true], true],
  error: [400, 'INVALID_REQUEST', 'cursor'],
};

const modules = (...path: string[]) => resolve('node_modules', ...path);
/** Half of the time of openapi-generator is the compiler of its virtual machine. */
const QUICK_JAVA = { JAVA_OPTS: '-XX:TieredStopAtLevel=1' };
const RUN_OPENAPI_GENERATOR =
  'import sys, openapi_generator_cli as generator; sys.exit(generator.run(sys.argv[1:]).returncode)';

let server: TestServer;
let later: Server;
let directory: string;
let key: string;
let python: string | Error;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'generated-clients-'));
  server = await startTestServer();
  const tenant = await server.createTenant('enterprise');
  key = tenant.key;
  const at = (second: number) => new Date(Date.UTC(2026, 0, 31, 9, 30, second)).toISOString();
  await server.ingest(tenant.id, [
    started('oldest', { startedAt: at(0) }),
    started('scored', { startedAt: at(1) }),
    closed('scored', { closedAt: at(2) }),
    scored('scored', 0.75, { scoredAt: at(3) }),
    started('newest', { startedAt: at(4), deviceFingerprint: 'fp', country: 'DE' }),
  ]);
  later = await startLaterVersion(server.url);
  await writeFile(join(directory, 'openapi.json'), (await server.call('GET', '/openapi/v3.json')).text);
  await symlink(modules(), join(directory, 'node_modules'));
  python = await installPythonTools().then(
    (tools) => join(tools, 'bin/python'),
    (error: Error) => error,
  );
}, 180_000);
afterAll(async () => {
  later.close();
  await server.stop();
  await rm(directory, { recursive: true });
});

/** Starts a server that adds a field to each object of the answers, as a later version of this one may. */
async function startLaterVersion(url: string): Promise<Server> {
  const relay = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const { host: _, ...headers } = request.headers as Record<string, string>;
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    const answer = await fetch(url + request.url, { method: request.method, headers: withoutHops(headers), body });
    const extend = (_key: string, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? { ...value, later: { field: 'later' } }
        : value;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(JSON.parse(await answer.text()), (name, value) =>
        name === 'later' ? value : extend(name, value),
      ),
    );
  });
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening));
  return relay;
}

const withoutHops = ({
  connection: _,
  'content-length': __,
  'transfer-encoding': ___,
  ...headers
}: Record<string, string>) => headers;

/** Generates a client into a directory, and answers the command that runs its program. */
const GENERATORS: Record<ClientKind, (home: string, python: string) => Promise<[string, string[]]>> = {
  'openapi-typescript': async (home) => {
    const cli = await installOpenApiTypescript(join(home, 'tools/node_modules'));
    await run(process.execPath, [cli, join(directory, 'openapi.json'), '--output', join(home, 'schema.d.ts')]);
    return checkTypes(home);
  },
  'typescript-fetch': async (home, python) => {
    await runOpenApiGenerator(python, 'typescript-fetch', join(home, 'client'));
    return checkTypes(home);
  },
  python: async (home, python) => {
    await runOpenApiGenerator(python, 'python', home);
    return [python, ['program.py']];
  },
  'openapi-python-client': async (home, python) => {
    // It would only format.
    await writeFile(join(home, 'options.yaml'), 'post_hooks: []\n');
    const options = [
      '--meta',
      'none',
      '--output-path',
      join(home, 'bot_detection'),
      '--config',
      join(home, 'options.yaml'),
    ];
    const path = join(directory, 'openapi.json');
    await run(python, ['-m', 'openapi_python_client', 'generate', '--fail-on-warning', '--path', path, ...options]);
    return [python, ['program.py']];
  },
};

/** Its compiler is an older one than the repository's, and it looks for it next to itself. */
async function installOpenApiTypescript(folder: string): Promise<string> {
  const to = join(folder, 'openapi-typescript');
  await cp(modules('openapi-typescript'), to, { recursive: true });
  const { dependencies } = JSON.parse(await readFile(join(to, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, typescript: '' })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await symlink(modules(name === 'typescript' ? 'typescript-5' : name), join(folder, name));
  }
  return join(to, 'bin/cli.js');
}

async function runOpenApiGenerator(python: string, generator: string, output: string) {
  const options = ['generate', '-i', join(directory, 'openapi.json'), '-g', generator, '-o', output];
  const parts = ['apiTests=false', 'modelTests=false', 'apiDocs=false', 'modelDocs=false'];
  options.push('--global-property', parts.join());
  await run(python, ['-c', RUN_OPENAPI_GENERATOR, ...options], { env: { ...process.env, ...QUICK_JAVA } });
}

async function checkTypes(home: string): Promise<[string, string[]]> {
  const options = { strict: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', noEmit: true };
  const compilerOptions = { ...options, lib: ['es2022', 'dom'], types: ['node'], skipLibCheck: false };
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  await writeFile(join(home, 'package.json'), '{ "type": "module" }');
  await run(process.execPath, [modules('typescript/bin/tsc'), '-p', home]).catch(({ stdout }) => {
    throw new Error(`types of the generated client:\n${stdout}`);
  });
  return [process.execPath, ['--import', modules('tsx/dist/esm/index.mjs'), 'program.ts']];
}

describe.concurrent('a client that is generated from the document works', () => {
  it.for(Object.keys(PROGRAMS) as ClientKind[])('by %s', { timeout: 60_000 }, async (kind, { skip }) => {
    if (typeof python !== 'string' && kind !== 'openapi-typescript')
      skip(`the generators cannot be obtained: ${python.message.trim().split('\n').at(-1)}`);
    const { file, code } = PROGRAMS[kind];
    const home = await mkdtemp(join(directory, `${kind}-`));
    await writeFile(join(home, file), code);
    const [command, parameters] = await GENERATORS[kind](home, python as string);
    const runAgainst = async (base: string) => {
      const { stdout } = await run(command, parameters, { cwd: home, env: { ...process.env, BASE: base, KEY: key } });
      return JSON.parse(stdout);
    };
    expect(await runAgainst(server.url)).toEqual(EXPECTED);
    const { port } = later.address() as AddressInfo;
    expect(await runAgainst(`http://127.0.0.1:${port}`), 'of a later version').toEqual(EXPECTED);
  });
});
