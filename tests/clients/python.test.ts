import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { Customer } from '../support/customer';
import { run } from '../support/generators/python-tools';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { loadVolumes } from '../support/volume';
import { type FaultyRelay, startFaultyRelay } from './faulty-relay';
import {
  checkPythonTypes,
  findStaleFiles,
  installPythonClient,
  type PythonClient,
  type PythonEnvironment,
  readExamples,
} from './python-environment';
import { expectOutput, prepareSamples, writeSamples } from './samples';

// The Python client, installed from its wheel into a clean environment, against the server. What both clients must do is in
// python/scenarios.py; unasync makes the synchronous program of it. tests/clients/python-webhooks.test.ts has the receivers.

const PROGRAM_LIMIT_MS = 280_000;
const SESSIONS = 1_000;

let server: TestServer;
let relay: FaultyRelay;
let receiver: Receiver;
let customer: Customer;
let directory: string;
let client: PythonClient | Error;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'python-client-'));
  receiver = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
  relay = await startFaultyRelay(server.url);
  customer = await Customer.create(server);
  await loadVolumes(server.database.db, [{ integrationId: customer.id, sessions: SESSIONS }]);
  // They fill the plan.
  await server.database.db.sql`update webhook_subscriptions set enabled = false where integration_id = ${customer.id}`;
  client = await installPythonClient(directory).catch((error: Error) => error);
});
afterAll(async () => {
  await relay.stop();
  await server.stop();
  await receiver.stop();
  await rm(directory, { recursive: true });
});

/** Skips a test if there is no Python, or none of its packages. */
function requireClient({ skip }: Pick<TestContext, 'skip'>): PythonClient {
  if (client instanceof Error) return skip(`no Python client: ${client.message.trim().split('\n').at(-1)}`);
  return client;
}

async function prepareRun() {
  const addresses = { BASE_URL: server.url, RELAY_URL: relay.url, RECEIVER_URL: receiver.url };
  const env = { NODE_ENV: 'test' as const, PATH: process.env.PATH, API_KEY: customer.key, ...addresses };
  return { cwd: await mkdtemp(join(directory, 'run-')), env };
}

async function runProgram(context: Pick<TestContext, 'skip'>, file: string): Promise<string> {
  const { python, programs } = requireClient(context).plain;
  const { stdout } = await run(python, [join(programs, file)], { ...(await prepareRun()), timeout: PROGRAM_LIMIT_MS });
  return stdout;
}

describe('the package', () => {
  it('is made of the released document', async (context) => {
    requireClient(context);
    expect(await findStaleFiles()).toEqual([]);
  });

  it('needs httpx alone, and brings its types', async (context) => {
    const { plain } = requireClient(context);
    const program = `import importlib.metadata as m, importlib.resources as r, json
print(json.dumps([m.requires("bot-detection-client"), r.files("bot_detection").joinpath("py.typed").is_file()]))`;
    const { stdout } = await run(plain.python, ['-c', program]);
    expect(JSON.parse(stdout)).toEqual([['httpx<1,>=0.28'], true]);
  });

  it('is formatted, and its types and those of all programs are right', async (context) => {
    const found = requireClient(context);
    await run(found.tools, ['-m', 'black', '--check', '--quiet', 'clients/python/src']);
    const programs = ['scenarios_async.py', 'scenarios_sync.py', 'cancellation.py', 'rules.py', 'serve.py', 'start.py'];
    const files = ['-p', 'bot_detection'];
    expect(await checkPythonTypes(found, files)).toEqual([]);
    expect(await checkPythonTypes(found, [...programs, ...readExamples().keys()])).toEqual([]);
  });

  it('has types that refuse each wrong line of a program', async (context) => {
    const found = requireClient(context);
    const lines = (await readFile('tests/clients/python/wrong.py', 'utf8')).split('\n');
    const wrong = lines.flatMap((line, index) => (line.includes('# wrong') ? [index + 1] : []));
    const errors = (await checkPythonTypes(found, ['wrong.py'])).map((line) => Number(line.split(':')[1]));
    expect([...new Set(errors)]).toEqual(wrong);
    expect(wrong.length).toBeGreaterThan(15);
  });
});

/** The operations of the document, by method and path. */
async function readOperations() {
  const document = JSON.parse(await readFile('docs/openapi.json', 'utf8')) as { paths: Record<string, object> };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** The table of the README: method of the client → operation. */
async function readTable(): Promise<[string, string][]> {
  const text = await readFile('clients/python/README.md', 'utf8');
  return [...text.matchAll(/^\| `([a-z_.]+)\(([^)]*)\)` \| `([A-Z]+ \S+)` \|/gm)].map(([, name, , operation]) => [
    name!,
    operation!,
  ]);
}

/** A program that plays scenarios one after the other: Python and its imports take half a second of CPU time to start. */
async function startScenarios({ python, programs }: PythonEnvironment, kind: string) {
  const child = spawn(python, [join(programs, `scenarios_${kind}.py`)], await prepareRun());
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  return {
    stop: () => child.kill(),
    async play(scenario: string) {
      child.stdin.write(`${scenario}\n`);
      const { done, value } = await answers.next();
      if (done) throw new Error(`${scenario}: ${printed}`);
      return JSON.parse(value);
    },
  };
}

describe.each(['sync', 'async'])('the %s client', (kind) => {
  let scenarios: Awaited<ReturnType<typeof startScenarios>> | null = null;
  const play = async (context: Pick<TestContext, 'skip'>, scenario: string) => {
    const { plain } = requireClient(context);
    scenarios ??= await startScenarios(plain, kind);
    return scenarios.play(scenario).catch((error) => {
      // The program has ended with the scenario that failed.
      scenarios = null;
      throw error;
    });
  };
  afterAll(() => void scenarios?.stop());

  it('has a method for each operation, as the README lists them', async (context) => {
    const sent: Record<string, [string, string | null]> = await play(context, 'operations');
    const table = await readTable();
    expect(table.map(([, operation]) => operation).sort()).toEqual((await readOperations()).sort());
    expect(Object.keys(sent).sort()).toEqual(table.map(([name]) => name).sort());
    for (const [name, operation] of table) {
      const [request, key] = sent[name]!;
      expect([name, request]).toEqual([name, operation.replace(/\{\w+\}/g, 'x')]);
      expect([name, key !== null]).toEqual([name, operation.startsWith('POST')]);
    }
  });

  it('lists 1,000 sessions, goes on from a cursor, and filters', async (context) => {
    expect(await play(context, 'walk')).toEqual({
      ids: [SESSIONS, SESSIONS],
      pages: [Array(10).fill(100), null],
      rest: true,
      bots: [true, ['bot']],
      poll: [false, true],
    });
  });

  it('reads on after an empty page', async (context) => {
    expect(await play(context, 'empty_pages')).toEqual([SESSIONS - 100, 10]);
  });

  it('does not read a page without end that leads to itself', async (context) => {
    const expected = ['the list goes on, but the page leads to itself', 2];
    expect(await play(context, 'page_that_leads_to_itself')).toEqual(expected);
  });

  it('labels a session', async (context) => {
    expect(await play(context, 'label')).toEqual(['bot', 'from Python']);
  });

  it('creates, changes, tests, rotates and deletes a webhook', async (context) => {
    const secret = expect.stringMatching(/^whsec_.{44}$/);
    const { secrets, ...rest } = await play(context, 'life_cycle');
    expect(secrets).toEqual([secret, secret]);
    expect(secrets[0]).not.toBe(secrets[1]);
    expect(rest).toEqual({
      changed: ['renamed', true, null],
      tests: ['Delivered', 'Delivered'],
      listed: true,
      deliveries: [true, true],
      gone: ['NotFoundError', 404, 'NOT_FOUND', null, null],
    });
  });

  it('reads health, sets thresholds, and encodes ids', async (context) => {
    const odd = ['a%2Fb%20%3F%23%25', '...', '%C3%B6'].map((id) => ['NOT_FOUND', `/v1/sessions/${id}`]);
    const expected = ['ok', odd, { mediumAt: 40, botAt: 70 }, 'user-00000', true];
    expect(await play(context, 'other_reads')).toEqual(expected);
  });

  it('reads files, and raises if one breaks off', async (context) => {
    const broken = (first: unknown, hasPart = true) => [hasPart, first, expect.stringContaining('incomplete'), 1];
    const inLine = 'the file ends in the middle of a line';
    const cut = expect.stringMatching(/^the file broke off: /);
    expect(await play(context, 'exports')).toEqual([
      true,
      true,
      true,
      expect.any(String),
      // Nothing more is read of a file that was left, and its connection has ended.
      [true],
      // To read on tells the same.
      [
        broken(cut),
        broken(inLine),
        broken('a line of the file is none of the API', false),
        broken(cut),
        broken(inLine),
      ],
    ]);
  });

  it('waits as Retry-After says, up to a minute, and gives up after the last repeat', async (context) => {
    expect(await play(context, 'too_many_requests')).toEqual([
      ...[4, true, true],
      ['RateLimitError', 429, 'INJECTED', null, 61, 1],
      ['ServerError', 503, 'INJECTED', null, null, 3],
      // A refusal for the rate would say that nothing was done, which nobody knows of the first attempt of a change.
      [
        ['RateLimitError', 2],
        ['ConnectionFailedError', 2],
        ['ServerError', 2],
      ],
    ]);
  });

  it('repeats GET, PUT and POST after any failure of the service, PATCH only after 429 and 503', async (context) => {
    expect(await play(context, 'repeats')).toEqual({
      counts: {
        'cut-before': [2, 2, 2, 1],
        'cut-after': [2, 2, 2, 1],
        '500': [2, 2, 2, 1],
        '503': [2, 2, 2, 2],
        '429': [2, 2, 2, 2],
      },
      never: ['InvalidRequest', 'Authentication', 'PlanLimit', 'PermissionDenied', 'NotFound'].map((name) => [
        `${name}Error`,
        1,
      ]),
      deleted: 2,
      // Nothing of these was lost, or more is gone than the repeat can tell.
      missed: [1, 2, 2].map((requests) => ['NotFoundError', requests]),
    });
  });

  it('repeats a POST with the same idempotency key, so that it has one effect', async (context) => {
    expect(await play(context, 'one_effect')).toEqual([3, 1, true, 'whsec_', true, 3, 'my own']);
  });

  it('ends a request after its timeout, also while an answer trickles in', async (context) => {
    const timeout = ['RequestTimeoutError', 2, true];
    const ends = [['RequestTimeoutError'], ['ConnectionFailedError']];
    // The answer of an export of a user, which may be of any length, comes to its end.
    expect(await play(context, 'timeouts')).toEqual([timeout, timeout, true, ...ends, 'ok']);
  });

  it('raises a different error for each family', async (context) => {
    expect(await play(context, 'errors')).toEqual([
      ['NotFoundError', 404, 'NOT_FOUND', null, null, true, true],
      ['InvalidRequestError', 400, 'INVALID_URL', 'url', null, true, true],
      ['InvalidRequestError', 400, 'INVALID_BODY', 'botAt', null, true, true],
      ['InvalidRequestError', 400, 'INVALID_REQUEST', 'pageSize', null],
      ['TypeError', "listSessions takes no argument 'risklevel'"],
      ['TypeError', "listSessions takes no argument 'user'"],
      ...['', '.', '..'].map((id) => ['ValueError', `an id cannot be '${id}'`]),
      ['AuthenticationError', 401, 'INVALID_API_KEY', null, null],
      ...['stats', 'exports', 'webhooks'].map(() => ['UnexpectedAnswerError', 200, 'UNKNOWN', null, null, 1]),
      ['UnexpectedAnswerError', 307, 'INJECTED', null, null, 1],
    ]);
  });

  it('raises errors that stay what they are in another process', async (context) => {
    expect(await play(context, 'other_processes')).toEqual(Array(4).fill([true, true, true]));
  });

  it('shows no key and no secret in errors, representations, tracebacks and logs', async (context) => {
    expect(await play(context, 'secrets')).toEqual([true, true, []]);
  });
});

describe('the async client', () => {
  it('ends a request at once when its task is cancelled, and takes the read part of a file for no whole one', async (context) => {
    expect(JSON.parse(await runProgram(context, 'cancellation.py'))).toEqual([
      ...[['cancelled', true], [true], ['cancelled', true], [true], 'timed out', SESSIONS],
      ...['IncompleteFileError', 'IncompleteFileError'],
    ]);
  });
});

describe('what needs no server', () => {
  it('is so: how answers are read, when requests are sent again, what is refused', async (context) => {
    const wrong = (count: number, name = 'ValueError') => Array(count).fill(name);
    expect(JSON.parse(await runProgram(context, 'rules.py'))).toEqual({
      pages: [false, wrong(6, 'UnexpectedAnswerError')],
      contents: [{ id: 's' }, { status: 'ok' }, null, ...wrong(3, 'UnexpectedAnswerError')],
      errors: [['C', 'f'], ['C', null], ...Array(3).fill(['UNKNOWN', null])].map((rest) => [true, 500, ...rest]),
      retry_after: [7, 0, 999_999_999, ...Array(7).fill(null)],
      requests: [255, wrong(4), { pageSize: '5' }],
      // None is in its error, because it may have a password.
      addresses: [Array(7).fill(false), 'https://us.example.com', wrong(2), wrong(4)],
      options: wrong(7),
      deliveries: [
        ...['BotDetected BotDetected', 'UnknownEvent Later', 'TestDelivery TestDelivery'],
        ...Array(4).fill('BotDetected BotDetected'),
        ...['body', 'body', 'body', 'signature', 'signature', ...wrong(3)],
      ],
      pauses: [[0.5, 1, 2, 4, 8, 8, 8], [0.5, 1, 2, 4, 8, 8, 8, 0.5].map((longest) => [0, longest]), 60.5, null],
    });
  });
});

/** The examples of the README, and what they print. */
const EXAMPLES: [string, RegExp][] = [
  ['first_call.py', /^1000 sessions\n$/],
  ['regions.py', /^$/],
  ['lists.py', /^ses-\d+ 0\.\d+\n/],
  ['handle_errors.py', /^404 NOT_FOUND\n$/],
  ['manage_webhooks.py', /^Delivered\n$/],
  ['export_lists.py', /^\d+ bots\n$/],
  ['async_calls.py', /^1000 sessions, \d+ requests\n/],
  ['plain_receiver.py', /^$/],
];

describe('an example of the README', () => {
  it.for(EXAMPLES)('%s works', async ([name, output], context) => {
    expect(await runProgram(context, name)).toMatch(output);
  });

  it('is in the table above, or in python-webhooks.test.ts', () => {
    const names = [...EXAMPLES.map(([name]) => name), 'flask_receiver.py', 'fastapi_receiver.py'];
    expect([...readExamples().keys()].sort()).toEqual(names.sort());
  });
});

describe('the samples of the document', () => {
  it('have right types, and work', async (context) => {
    const found = requireClient(context);
    const { python, programs } = found.plain;
    const { key, samples } = await prepareSamples(server, receiver, 'Python');
    const names = await writeSamples(programs, samples, 'py');
    expect(await checkPythonTypes(found, names)).toEqual([]);
    const program = names.map((name) => `print("== ${name.slice(0, -3)}")\nrunpy.run_path("${name}")`).join('\n');
    const env = { PATH: process.env.PATH, NODE_ENV: 'test' as const, BASE: server.url, KEY: key };
    const { stdout } = await run(python, ['-c', `import runpy\n${program}`], {
      cwd: programs,
      env,
      maxBuffer: 2 ** 24,
    });
    expectOutput(stdout, samples);
  });
});
