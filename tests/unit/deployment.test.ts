import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DOCUMENTS } from '../../app/docs/documents';
import { readEnv, SETTING_NAMES, SettingError } from '../../server/platform/env';

// Compares the container image, the compose file and Vercel's configuration with the product.

const read = (path: string) => readFileSync(path, 'utf8');
const compose = parse(read('compose.yaml'));
const SECRETS: Record<string, string> = {
  POSTGRES_PASSWORD: 'a'.repeat(48),
  APP_SECRET: Buffer.alloc(32, 1).toString('base64'),
  PIPELINE_TOKEN: 'b'.repeat(64),
  INNGEST_EVENT_KEY: 'c'.repeat(32),
  INNGEST_SIGNING_KEY: 'd'.repeat(64),
};
const example = Object.fromEntries(
  [...read('.env.example').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, k, v]) => [k!, v!]),
);
const filled: Record<string, string> = { ...example, ...SECRETS };

/** Fills in a value of the compose file with the settings of `.env`. */
const fillIn = (value: unknown) =>
  String(value).replace(
    /\$\{(\w+)(?::[-?]([^}]*))?\}/g,
    (_, name: string, otherwise = '') => filled[name] || otherwise,
  );

describe('compose.yaml', () => {
  it('asks for all settings that .env.example lists, and needs no other', () => {
    const asked = [...read('compose.yaml').matchAll(/\$\{(\w+)(:-\}|)/g)].map(([, name, rest]) => [name!, rest!]);
    const needed = asked.filter(([, rest]) => rest !== ':-}').map(([name]) => name!);
    expect(Object.keys(example).filter((name) => !asked.some(([asks]) => asks === name))).toEqual([]);
    expect(needed.filter((name) => !(name in example))).toEqual([]);
  });

  it('passes every setting to the server, except those of the container’s network, database and engine', () => {
    const passed = Object.keys(compose.services.app.environment);
    const own = ['PORT', 'HOST', 'DATA_DIR', 'DATABASE_DIRECT_URL', 'DATABASE_POOLER', 'INNGEST_DEV'];
    const ofVercel = ['VERCEL', 'VERCEL_REGION'];
    expect(passed.sort()).toEqual(SETTING_NAMES.filter((name) => ![...own, ...ofVercel].includes(name)).sort());
    filled.TRACE_DAYS = '90';
    expect(readEnv({ TRACE_DAYS: fillIn(compose.services.app.environment.TRACE_DAYS) }).TRACE_DAYS).toBe(90);
    delete filled.TRACE_DAYS;
  });

  it('does not start without a secret, and contains none', () => {
    for (const name of Object.keys(SECRETS)) {
      expect([name, example[name]]).toEqual([name, '']);
      expect(read('compose.yaml').match(new RegExp(`\\$\\{${name}[^?}]*\\}`))).toBeNull();
    }
  });

  it('gives the server only settings that exist and are valid', () => {
    const { environment } = compose.services.app;
    expect(Object.keys(environment).filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
    const settings = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fillIn(value)]));
    expect(readEnv(settings)).toMatchObject({ REGION: 'us', usesInngest: true, publicUrl: example.PUBLIC_URL_US });
  });

  it('gives the server and Inngest the same keys, and each the address of the other', () => {
    const { app, inngest } = compose.services;
    for (const name of ['INNGEST_EVENT_KEY', 'INNGEST_SIGNING_KEY'])
      expect(fillIn(inngest.environment[name])).toBe(fillIn(app.environment[name]));
    expect(inngest.environment.INNGEST_SDK_URL).toBe('http://app:3000/api/inngest');
    expect(app.environment.INNGEST_BASE_URL).toBe('http://inngest:8288');
    // Inngest calls the functions where the server says, not where it has asked for them.
    expect(app.environment.INNGEST_SERVE_ORIGIN).toBe('http://app:3000');
  });

  it('publishes only the server, and only on the loopback by default', () => {
    const published = Object.entries<{ ports?: string[] }>(compose.services).filter(([, { ports }]) => ports);
    expect(published.map(([name]) => name)).toEqual(['app']);
    expect(compose.services.app.ports.map(fillIn)).toEqual(['127.0.0.1:3000:3000']);
  });
});

describe('the health check', () => {
  const ofImage = JSON.parse(/^ *CMD (\["node", "-e".*\])$/m.exec(read('Dockerfile'))![1]!);
  const { app, inngest } = compose.services;

  /** Returns the exit code of a check whose server answers `status` on `path` and 404 elsewhere, or does not run. */
  async function runCheck([program, ...args]: string[], path: string, status: number | null) {
    const server = createServer((request, response) => {
      response.writeHead(request.url === path ? status! : 404).end('{}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const port = String((server.address() as AddressInfo).port);
    if (status === null) await once(server.close(), 'close');
    const own = args.map((arg) => arg.replace(/(?<=127\.0\.0\.1[:/])(3000|8288)/, port));
    const [code] = await once(spawn(program!, own, { env: { ...process.env, PORT: port }, stdio: 'ignore' }), 'close');
    server.close();
    return code as number;
  }

  it.each([
    ['of the image', ofImage, '/health'],
    ['of the server in compose.yaml', app.healthcheck.test.slice(1), '/ready'],
    ['of Inngest in compose.yaml', inngest.healthcheck.test.slice(1), '/health'],
  ])('%s passes on 200 alone', async (_, check, path) => {
    expect(await runCheck(check, path, 200)).toBe(0);
    expect(await runCheck(check, path, 503)).toBe(1);
    expect(await runCheck(check, path, null)).toBe(1);
  });
});

describe('the image', () => {
  const dockerfile = read('Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, sources]) => sources!.split(' '));

  it('is built from files that exist and are part of the build context', () => {
    const passed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path!);
    expect(copied.filter((path) => !existsSync(path))).toEqual([]);
    expect(copied.sort()).toEqual(passed.sort());
  });

  it('is built from all sources', () => {
    const build = read('server/build.mjs');
    const sources = /const SOURCES = \[([^\]]+)\]/.exec(build)![1]!.match(/[\w.-]+(?=')/g)!;
    expect(copied.filter((path) => !path.endsWith('.md')).sort()).toEqual(sources.sort());
  });

  it('contains every document that the product shows, and no other', () => {
    const files = DOCUMENTS.map(({ file }) => file);
    expect(copied.filter((path) => path.endsWith('.md')).sort()).toEqual(files.sort());
  });

  it('contains what its configuration imports', () => {
    const imported = [...read('next.config.js').matchAll(/from '\.\/([^']+)'/g)].map(([, path]) => path!);
    const brought = [...dockerfile.matchAll(/^COPY --from=build (.+) \S+$/gm)].map(([, sources]) => sources!).join(' ');
    expect(imported.filter((path) => !brought.includes(`/app/${path}`))).toEqual([]);
  });

  it('gives the server only settings that exist', () => {
    const names = [.../^ENV (NODE_ENV.*)$/m.exec(dockerfile)![1]!.matchAll(/(\w+)=/g)].map(([, name]) => name!);
    const ofNode = ['NODE_ENV', 'NEXT_TELEMETRY_DISABLED', 'UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX'];
    expect(names.filter((name) => !ofNode.includes(name) && !SETTING_NAMES.includes(name))).toEqual([]);
  });
});

describe('on Vercel', () => {
  const start = (region: string, REGION: string) => () =>
    readEnv({ VERCEL: '1', VERCEL_REGION: region, REGION, DATABASE_URL: 'postgres://db/x', ...SECRETS });

  it.each([
    ['iad1', 'us'],
    ['fra1', 'eu'],
  ])('%s runs %s', (region, REGION) => {
    expect(start(region, REGION)().REGION).toBe(REGION);
  });

  it.each([
    ['iad1', 'eu'],
    ['fra1', 'us'],
    ['lhr1', 'eu'],
  ])('%s refuses to run %s', (region, REGION) => {
    expect(start(region, REGION)).toThrow(SettingError);
    expect(start(region, REGION)).toThrow(`REGION: is ${REGION}, but Vercel runs this in ${region}; `);
  });

  it('vercel.json, which both projects share, sets no region', () => {
    expect(JSON.parse(read('vercel.json'))).not.toHaveProperty('regions');
  });

  it('routes that run long declare it', () => {
    const routes = readdirSync('app', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('route.ts'),
    );
    const long = routes.filter((path) => /export const maxDuration = 60;/.test(read(`app/${path}`)));
    expect(long.sort()).toEqual([
      ...['api/inngest/route.ts', 'api/trpc/[trpc]/route.ts', 'collect/route.ts'],
      ...['lists/[[...path]]/route.ts', 'reports/[[...path]]/route.ts', 'v1/[[...path]]/route.ts'],
    ]);
  });
});

describe('the operating guide', () => {
  it('has a unit of systemd that starts with the machine, tries again without an end, and has only settings that exist', () => {
    const [unit] = read('docs/operating.md').split('```ini\n')[1]!.split('```');
    // systemd gives up after five starts within ten seconds.
    expect(unit!.split('\n')).toEqual(
      expect.arrayContaining(['[Install]', 'WantedBy=multi-user.target', 'RestartSec=5']),
    );
    const settings = [...unit!.matchAll(/\b([A-Z_]+)=/g)].map(([, name]) => name!);
    expect(settings).toContain('DATA_DIR');
    expect(settings.filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
  });

  it('names each migration that does more than add', () => {
    const more =
      /^(?:drop (?:index|table|trigger)|update|alter table \S+ (?:rename|drop)|create or replace function) /im;
    const migrations = readdirSync('db/migrations').filter((name) => name.endsWith('.sql'));
    const list = read('docs/operating.md').split('## Upgrade and rollback')[1]!.split('\n## ')[0]!;
    const changing = migrations.filter((name) => more.test(read(`db/migrations/${name}`)));
    expect(changing.length).toBeGreaterThan(10);
    expect(changing.filter((name) => !list.includes(`\`${name.slice(0, 4)}`))).toEqual([]);
  });
});
