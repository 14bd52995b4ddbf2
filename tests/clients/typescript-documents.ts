import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import type * as entry from '../../clients/typescript/src/index';
import { type Block, readBlocks } from '../support/documents';
import type { FaultyRelay } from './faulty-relay';
import { copyPrograms, type InstalledPackage } from './installed-package';

const README = 'clients/typescript/README.md';
/** The programs that end by themselves, in an order in which they work. */
const RUN = ['first.ts', 'pages.ts', 'poll.ts', 'errors.ts', 'cancel.ts', 'exports.ts', 'rotate.ts'];

interface Context {
  client: InstalledPackage;
  relay: FaultyRelay;
  /** For the programs: the server and a key of an integration with sessions and a webhook. */
  env: Record<string, string>;
}

/** What the types permit, and that the README is right. */
export function describeDocuments(getContext: () => Promise<Context>): void {
  let context: Context;
  const blocks = readBlocks(README);
  const programs = blocks.filter((block): block is Block & { name: string } => block.language === 'ts' && !!block.name);
  beforeAll(async () => {
    context = await getContext();
    const folder = join(context.client.home, 'readme');
    await mkdir(folder);
    for (const { name, code } of programs) {
      await writeFile(join(folder, name), code);
      await writeFile(join(folder, name.replace('.ts', '.js')), (await transform(code, { loader: 'ts' })).code);
    }
  });

  it.each(['typescript', 'typescript-5'] as const)(
    'wrong fields do not compile, right ones do: %s',
    async (compiler) => {
      await copyPrograms(context.client, ['wrong.mts']);
      const lines = (await readFile('tests/clients/programs/wrong.mts', 'utf8')).split('\n');
      const wrong = lines.flatMap((line, index) => (line.endsWith('// wrong') ? [`wrong.mts:${index + 1}`] : []));
      expect(wrong.length).toBeGreaterThan(20);
      const found = await context.client.compile(['wrong.mts'], compiler);
      expect([...new Set(found.map((error) => error.split(' ')[0]))]).toEqual(wrong);
    },
  );

  describe('the README', () => {
    it('has no block that is neither run nor checked', () => {
      const others = blocks.filter((block) => !programs.includes(block as never)).map(({ code }) => code);
      expect(others).toEqual([expect.stringMatching(/^npm install \.\/bot-detection-client-[\d.]+\.tgz$/)]);
      const { version } = JSON.parse(readFileSync('clients/typescript/package.json', 'utf8'));
      expect(others[0]).toContain(`-${version}.tgz`);
    });

    it('has programs that compile', async () => {
      const files = programs.map(({ name }) => `readme/${name}`);
      expect(await context.client.compile(files)).toEqual([]);
    });

    it.each(RUN)('has programs that run: %s', async (name) => {
      const { stdout } = await context.client.runNode(`readme/${name.replace('.ts', '.js')}`, context.env);
      if (name === 'errors.ts') expect(stdout).toMatch(/^no such session \S+\n$/);
      else if (name === 'cancel.ts') expect(stdout).toMatch(/(^|\n)s-\d+\n|AbortError/);
      else expect(stdout).not.toBe('');
    });

    it('names every error class', () => {
      const source = readFileSync('clients/typescript/src/errors.ts', 'utf8');
      const classes = [...source.matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
      const rows = [...readFileSync(README, 'utf8').matchAll(/^\| `(\w+Error)` \|/gm)].map(([, name]) => name);
      expect(rows.sort()).toEqual([...classes, 'WebhookVerificationError'].sort());
    });
  });

  describe('every operation of the API document', () => {
    const methods = [
      ...readFileSync(README, 'utf8').matchAll(/^\| `(\w+)\.(\w+)\((.*)\)` \| `(\w+) (\S+)` \| (.+) \|$/gm),
    ];

    it('is in the table of methods, with what it answers', () => {
      const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
      const rows = methods.map(([, , , , method, path, answer]) => [`${method} ${path}`, answer]);
      expect(Object.fromEntries(rows)).toEqual(describeAnswers(document));
    });

    it('is all that the client has', async () => {
      const { createClient } = await context.client.load<typeof entry>('index');
      const client = createClient({ apiKey: 'k', baseUrl: context.relay.url });
      const own = Object.entries<object>({ ...client }).flatMap(([resource, its]) =>
        Object.keys(its).map((name) => `${resource}.${name}`),
      );
      expect(own.sort()).toEqual(methods.map(([, resource, name]) => `${resource}.${name}`).sort());
    });

    it.each(methods.map(([, ...row]) => row.slice(0, 5) as [string, string, string, string, string]))(
      'is sent by %s.%s(%s): %s %s',
      async (resource, name, parameters, method, path) => {
        const { createClient } = await context.client.load<typeof entry>('index');
        const client = createClient({ apiKey: 'k', baseUrl: context.relay.url, maxRetries: 0 });
        const given = parameters.split(', ').filter(Boolean);
        const ids = given.filter((one) => /(Id|fingerprint)$/.test(one)).map((one) => `${one}/?&é`);
        const others = given
          .slice(ids.length)
          .map((one) => (/^(filters|query)/.test(one) ? { pageSize: 7 } : { a: 1 }));
        context.relay.plan({ status: 404 });
        // biome-ignore lint/suspicious/noExplicitAny: any method
        const call = (client as any)[resource][name](...ids, ...others);
        await (call.next ? call.next() : (call.page?.() ?? call)).catch(() => {});
        let at = 0;
        const sent = path.replace(/\{\w+\}/g, () => encodeURIComponent(ids[at++]!));
        const query = others.some((one) => 'pageSize' in one) ? '?pageSize=7' : '';
        expect(context.relay.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
          `${method} ${sent}${query}`,
        ]);
        const [{ body, headers }] = context.relay.requests as [(typeof context.relay.requests)[0]];
        expect(headers.authorization).toBe('Bearer k');
        expect(body).toBe(others.some((one) => 'a' in one) ? '{"a":1}' : '');
        expect(headers['idempotency-key'] !== undefined).toBe(method === 'POST');
      },
    );
  });
}

/** What the README says that the client answers, by operation. */
// biome-ignore lint/suspicious/noExplicitAny: any document
function describeAnswers({ paths, components }: any): Record<string, string> {
  const readName = ({ $ref = '' }) => $ref.slice('#/components/schemas/'.length);
  // biome-ignore lint/suspicious/noExplicitAny: any document
  const describeAnswer = ({ operationId, parameters = [], responses }: any): string => {
    const schema = responses[200]?.content['application/json'].schema;
    if (schema === undefined) return 'nothing';
    const { data } = components.schemas[readName(schema)].properties;
    if (data === undefined) return `\`${readName(schema)}\``;
    if (data.type !== 'array') return `\`${readName(data) || `Data<'${operationId}'>`}\``;
    const isPaged = parameters.some(({ name }: { name: string }) => name === 'cursor');
    return `${isPaged ? 'list' : 'array'} of \`${readName(data.items)}\``;
  };
  // biome-ignore lint/suspicious/noExplicitAny: any document
  const rows = Object.entries<any>(paths).flatMap(([path, item]) =>
    // biome-ignore lint/suspicious/noExplicitAny: any document
    Object.entries<any>(item).map(([method, operation]) => {
      const isExport = path.startsWith('/v1/exports/');
      const answer = describeAnswer(isExport ? paths[path.replace('/exports', '')].get : operation);
      const shown = isExport ? `${answer.replace('list', 'rows')}, or a CSV stream` : answer;
      return [`${method.toUpperCase()} ${path}`, shown];
    }),
  );
  return Object.fromEntries(rows);
}
