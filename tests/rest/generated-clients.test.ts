import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkOpenApiTypescript } from '../../clients/generate.mjs';
import { closed, finding, scored, started } from '../support/facts';
import { type ClientKind, PROGRAMS, type ProgramOutput } from '../support/generators/programs';
import { installPythonTools, run } from '../support/generators/python-tools';
import { startTestServer, type TestServer } from '../support/server';

// Clients that generators make from the document, with the generators' default options: they compile, and work against the
// server and against a later version of it. Each takes a few seconds, one after the other: at once, they would keep a small
// machine from everything else.

const MEASURED = [0.5, 'a word', null];
const EXPECTED: ProgramOutput = {
  pages: [['newest', 'scored'], ['oldest']],
  session: [0.75, 'bot'],
  measured: MEASURED,
  label: ['bot', null, 'n'],
  webhook: ['BotDetected', [0.5, 'x', true], true],
  error: [400, 'INVALID_REQUEST', 'cursor'],
};

const modules = (...path: string[]) => resolve('node_modules', ...path);
/** A run is too short for the second compiler of the virtual machine, and for a garbage collector with several threads. */
const QUICK_JAVA = { JDK_JAVA_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' };
const RUN_OPENAPI_GENERATOR =
  'import sys, openapi_generator_cli as generator; sys.exit(generator.run(sys.argv[1:]).returncode)';

let server: TestServer;
let later: Server;
let directory: string;
let key: string;
let python: string | Error;
let fromOpenApiGenerator: Promise<string> | undefined;

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
    scored('scored', 0.75, { scoredAt: at(3), evidence: MEASURED.map((measured) => finding('f', { measured })) }),
    started('newest', { startedAt: at(4), deviceFingerprint: 'fp', country: 'DE' }),
  ]);
  later = await startLaterVersion(server.url);
  await writeFile(join(directory, 'openapi.json'), (await server.call('GET', '/openapi/v3.json')).text);
  await symlink(modules(), join(directory, 'node_modules'));
  python = await installPythonTools().then(
    (tools) => join(tools, 'bin/python'),
    (error: Error) => error,
  );
});
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
    // The compiler is not asked to check declaration files, so this is none.
    const options = [join(directory, 'openapi.json'), '--output', join(home, 'schema.ts')];
    await run(process.execPath, [...(await linkOpenApiTypescript(home)), ...options]);
    return checkTypes(home);
  },
  'typescript-fetch': async (home, python) => {
    await symlink(join(await runOpenApiGenerator(python), 'typescript-fetch'), join(home, 'client'));
    return checkTypes(home);
  },
  python: async (home, python) => {
    await symlink(join(await runOpenApiGenerator(python), 'python/openapi_client'), join(home, 'openapi_client'));
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

/** Most of a run is the start of the virtual machine, so one run makes both clients. Answers the directory they are in. */
function runOpenApiGenerator(python: string): Promise<string> {
  fromOpenApiGenerator ??= (async () => {
    const home = await mkdtemp(join(directory, 'openapi-generator-'));
    const globalProperties = { apiTests: 'false', modelTests: 'false', apiDocs: 'false', modelDocs: 'false' };
    const files = ['typescript-fetch', 'python'].map(async (generatorName) => {
      const file = join(home, `${generatorName}.json`);
      const paths = { inputSpec: join(directory, 'openapi.json'), outputDir: join(home, generatorName) };
      await writeFile(file, JSON.stringify({ generatorName, ...paths, globalProperties }));
      return file;
    });
    const options = ['batch', '--threads', '1', '--fail-fast', ...(await Promise.all(files))];
    await run(python, ['-c', RUN_OPENAPI_GENERATOR, ...options], { env: { ...process.env, ...QUICK_JAVA } });
    return home;
  })();
  return fromOpenApiGenerator;
}

/** Checks the types of a client and its program, and makes one script of both. */
async function checkTypes(home: string): Promise<[string, string[]]> {
  const options = { strict: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', noEmit: true };
  const compilerOptions = { ...options, lib: ['es2022', 'dom'], types: ['node'], skipLibCheck: true };
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  await run(process.execPath, [modules('typescript/bin/tsc'), '-p', home]).catch(({ stdout }) => {
    throw new Error(`types of the generated client:\n${stdout}`);
  });
  const outfile = join(home, 'program.mjs');
  await build({
    absWorkingDir: home,
    entryPoints: ['program.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  return [process.execPath, [outfile]];
}

describe('a client that is generated from the document works', () => {
  it.for(Object.keys(PROGRAMS) as ClientKind[])('by %s', async (kind, { skip }) => {
    if (typeof python !== 'string' && kind !== 'openapi-typescript')
      skip(`the generators cannot be obtained: ${python.message.trim().split('\n').at(-1)}`);
    const { file, code } = PROGRAMS[kind];
    const home = await mkdtemp(join(directory, `${kind}-`));
    await writeFile(join(home, file), code);
    const [command, parameters] = await GENERATORS[kind](home, python as string);
    const BASES = `${server.url} http://127.0.0.1:${(later.address() as AddressInfo).port}`;
    const { stdout } = await run(command, parameters, { cwd: home, env: { ...process.env, BASES, KEY: key } });
    const [ofServer, ofLaterVersion] = JSON.parse(stdout);
    expect(ofServer).toEqual(EXPECTED);
    expect(ofLaterVersion, 'of a later version').toEqual(EXPECTED);
  });
});
