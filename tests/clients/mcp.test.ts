import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { mintKey } from '../../server/domain/api-keys';
import { showUrl } from '../../server/webhooks/subscription-acts';
import { readBlocks } from '../support/documents';
import { createFixture, type Fixture } from '../support/fixture';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { type FaultyRelay, startFaultyRelay } from './faulty-relay';
import { type Assistant, type InstalledMcp, installMcp, readText, startAssistant } from './installed-mcp';
import { describeFailures } from './mcp-failures';
import { describeProcess } from './mcp-process';
import { describeRepeats } from './mcp-repeats';
import { describeTexts } from './mcp-texts';

// The MCP server as operators have it: packed, installed into an empty folder, and started as a child process. The SDK's own
// client drives it over stdio, against the server.

const installed = await installMcp();
const isMissing = typeof installed === 'string';
const reason = isMissing ? ` (skipped: this machine cannot install the SDK, ${installed})` : '';

// biome-ignore lint/suspicious/noExplicitAny: any document
const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as any;
const toToolName = (operationId: string) => operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** The operations of the document by the names that tools have. */
// biome-ignore lint/suspicious/noExplicitAny: any document
const OPERATIONS: Record<string, any> = Object.fromEntries(
  // biome-ignore lint/suspicious/noExplicitAny: any document
  Object.entries<any>(paths).flatMap(([path, item]) =>
    // biome-ignore lint/suspicious/noExplicitAny: any document
    Object.entries<any>(item).map(([method, operation]) => [
      toToolName(operation.operationId),
      { ...operation, method, path },
    ]),
  ),
);
const NEVER = [
  'erase_user',
  'export_user',
  'export_sessions',
  'export_users',
  'export_webhook_events',
  'export_audit_entries',
];
const EXPECTED = Object.keys(OPERATIONS).filter((name) => !NEVER.includes(name));
const READS = EXPECTED.filter((name) => OPERATIONS[name].method === 'get');

describe.skipIf(isMissing)(`the MCP server${reason}`, () => {
  const mcp = installed as InstalledMcp;
  let server: TestServer;
  let relay: FaultyRelay;
  let receiver: Receiver;
  let fixture: Fixture;
  let reader: Assistant;
  let writer: Assistant;
  const opened: Assistant[] = [];

  const open = async (key: string, parameters: string[] = [], baseUrl = server.url, env = {}) => {
    const assistant = await startAssistant(mcp, { key, baseUrl, parameters, env });
    opened.push(assistant);
    return assistant;
  };
  const mint = async (integrationId: string, scopes: ('read' | 'webhooks:write')[]) =>
    (await mintKey(asOperator(server.service.db), { integrationId, name: 'narrow', scopes })).key;

  beforeAll(async () => {
    receiver = await startReceiver();
    server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host, QUOTA_FREE: '3' });
    relay = await startFaultyRelay(server.url);
    fixture = await createFixture({ base: server, api: server, receiver });
    reader = await open(await mint(fixture.id, ['read']));
    writer = await open(fixture.key, ['--allow-writes']);
  });
  afterAll(async () => {
    for (const assistant of opened) await assistant.close();
    await relay?.stop();
    await server?.stop();
    await receiver?.stop();
    await mcp.remove();
  });

  describe('the package', () => {
    it('has one program and its README', () => {
      expect(mcp.files).toEqual(['README.md', 'dist/main.js', 'package.json']);
    });
  });

  describe('its tools', () => {
    it('are every route that reads, and with --allow-writes every one that writes, but never files, a person’s record and erasure', async () => {
      const names = async ({ client }: Assistant) => (await client.listTools()).tools.map(({ name }) => name).sort();
      expect(await names(reader)).toEqual([...READS].sort());
      expect(await names(writer)).toEqual([...EXPECTED].sort());
      expect(READS).toHaveLength(22);
    });

    it('are those that the scopes of the key permit, and only read while these are unknown', async () => {
      const key = await mint(fixture.id, ['read', 'webhooks:write']);
      const names = async ({ client }: Assistant) => (await client.listTools()).tools.map(({ name }) => name).sort();
      const permitted = EXPECTED.filter((name) => READS.includes(name) || name.includes('webhook'));
      expect(await names(await open(key, ['--allow-writes']))).toEqual(permitted.sort());
      const cut = await open(key, ['--allow-writes'], relay.url);
      relay.plan({ status: 503 });
      expect(await names(cut)).toEqual([...READS].sort());
      expect(cut.log()).toContain('the scopes of the key are unknown');
      expect(await names(cut)).toEqual(permitted);
    });

    it('take what the API document says, and nothing else', async () => {
      const { tools } = await writer.client.listTools();
      const schemas = (await import('../../docs/openapi.json')).default.components.schemas as Record<string, object>;
      // biome-ignore lint/suspicious/noExplicitAny: any schema
      const inline = (schema: any): any => {
        if (Array.isArray(schema)) return schema.map(inline);
        if (typeof schema !== 'object' || schema === null) return schema;
        if (schema.$ref) return inline(schemas[schema.$ref.slice('#/components/schemas/'.length)]);
        const { format: _, description: __, example: ___, examples: ____, default: _____, ...rest } = schema;
        return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inline(value)]));
      };
      for (const { name, inputSchema } of tools) {
        const { parameters = [], requestBody } = OPERATIONS[name];
        const body = requestBody ? inline(requestBody.content['application/json'].schema) : {};
        const inputs = parameters.filter((one: { in: string }) => one.in !== 'header');
        const required = inputs
          .filter((one: { required?: boolean }) => one.required)
          .map((one: { name: string }) => one.name);
        const described = {
          ...Object.fromEntries(inputs.map((one: { name: string; schema: object }) => [one.name, inline(one.schema)])),
          ...body.properties,
        };
        expect([name, inline(inputSchema.properties)]).toEqual([name, described]);
        expect([name, inputSchema.required ?? []]).toEqual([name, [...required, ...(body.required ?? [])]]);
        expect([name, inputSchema.additionalProperties]).toEqual([name, false]);
      }
    });

    it('say what they do, which scope they need, and whether they change, replace or repeat something', async () => {
      const { tools } = await writer.client.listTools();
      for (const { name, title, description, annotations } of tools) {
        const { method, summary, responses } = OPERATIONS[name];
        // The README's table has what a description says.
        expect([name, title, annotations?.title]).toEqual([name, summary, summary]);
        expect([name, annotations?.readOnlyHint]).toEqual([name, method === 'get']);
        const scope = /scope `([\w:]+)`/.exec(responses['403']?.description ?? '')?.[1];
        if (method !== 'get') expect(description).toContain(`The key needs the scope ${scope}.`);
      }
      const having = (hint: 'destructiveHint' | 'idempotentHint', value: boolean) =>
        tools.filter(({ annotations }) => annotations?.[hint] === value).map(({ name }) => name);
      expect(having('destructiveHint', true).sort()).toEqual([
        'delete_webhook',
        'label_session',
        'rotate_webhook_secret',
        'update_risk_thresholds',
        'update_webhook',
      ]);
      expect(having('idempotentHint', false).sort()).toEqual([
        'create_webhook',
        'recover_webhook_deliveries',
        'resend_webhook_delivery',
        'rotate_webhook_secret',
        'test_webhook',
      ]);
    });
  });

  describe('a tool that reads', () => {
    it.each(READS)('answers what the API answers: %s', async (name) => {
      const { path, parameters = [] } = OPERATIONS[name];
      const isPaged = parameters.some((one: { name: string }) => one.name === 'pageSize');
      const ids = parameters.filter((one: { in: string }) => one.in === 'path');
      const input = Object.fromEntries(
        ids.map((one: { name: keyof Fixture['ids'] }) => [one.name, fixture.ids[one.name]]),
      );
      const answer = await fixture.get(
        `${path.replace(/\{(\w+)\}/g, (_: string, id: keyof Fixture['ids']) => encodeURIComponent(fixture.ids[id]))}`,
      );
      expect(answer.status).toBe(200);
      const result = await reader.call(name, input);
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results freely
      const { untrustedData, page, cut } = result.structuredContent as any;
      expect(cut).toBeUndefined();
      const settle = (data: unknown) =>
        JSON.parse(
          JSON.stringify(data, (key, value) =>
            /^(timestamp|generatedAt|startDate|endDate|apiKey\w+|\w*[rR]equests|byEndpoint|timeSeries|version)$/.test(
              key,
            )
              ? 0
              : value,
          ),
        );
      const shown = JSON.parse(JSON.stringify(answer.body.data ?? answer.body), (key, value) =>
        key === 'url' && name.includes('webhook') ? showUrl(value) : value,
      );
      expect(settle(untrustedData)).toEqual(settle(shown));
      expect(page?.limit).toBe(isPaged ? 20 : undefined);
      const [, mark, json] = /^----- BEGIN (\w{32}) -----\n(.*)\n----- END \1 -----$/m.exec(readText(result)) ?? [];
      expect(JSON.parse(json!)).toEqual(untrustedData);
      expect(result.structuredContent).toMatchObject({ beginOfData: mark, endOfData: mark });
    });

    it('passes filters on', async () => {
      const found = async (filters: object) =>
        (await reader.read('list_sessions', filters)).untrustedData.map(({ id }: { id: string }) => id);
      expect(await found({ riskLevel: 'bot', minBotScore: 0.9 })).toEqual([fixture.botSessionId]);
      expect(await found({ fingerprint: fixture.ids.fingerprint })).toEqual([fixture.ids.sessionId]);
      const { untrustedData } = await reader.read('get_analytics', { period: '24h', groupBy: 'hour' });
      expect(untrustedData).toMatchObject({ period: '24h' });
    });

    it('reads one page, and goes on where its cursor says', async () => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { untrustedData, page } = await reader.read('list_sessions', { pageSize: 2, cursor });
        expect(untrustedData.length).toBeLessThanOrEqual(2);
        expect(page.howToGoOn !== undefined).toBe(page.hasMore);
        seen.push(...untrustedData.map(({ id }: { id: string }) => id));
        cursor = page.hasMore ? page.nextCursor : undefined;
      } while (cursor);
      expect(seen).toEqual([fixture.activeSessionId, fixture.botSessionId, fixture.ids.sessionId]);
    });
  });

  describe('a tool that writes', () => {
    it.each<[tool: string, input: (fixture: Fixture) => object, answer: (fixture: Fixture) => object]>([
      [
        'label_session',
        ({ ids: { sessionId } }) => ({ sessionId, verdict: 'bot' }),
        () => ({ verdict: 'bot', notes: null }),
      ],
      [
        'confirm_device',
        ({ ids: { userId, fingerprint } }) => ({ userId, fingerprint, notes: 'n' }),
        ({ ids }) => ({ userId: ids.userId }),
      ],
      ['update_risk_thresholds', () => ({ mediumAt: 30, botAt: 80 }), () => ({ mediumAt: 30, botAt: 80 })],
      ['test_webhook', ({ ids: { id } }) => ({ id }), () => ({ status: 'Delivered', responseCode: 200 })],
      ['update_webhook', ({ ids: { id } }) => ({ id, name: 'Renamed' }), () => ({ name: 'Renamed', enabled: true })],
      [
        'resend_webhook_delivery',
        ({ ids: { id, deliveryId } }) => ({ id, deliveryId }),
        ({ ids }) => ({ id: ids.deliveryId, resends: 1 }),
      ],
      [
        'recover_webhook_deliveries',
        ({ ids: { id } }) => ({ id, startDate: '2026-01-01' }),
        () => ({ hasMore: false }),
      ],
      [
        'delete_webhook',
        ({ disabledWebhookId: id }) => ({ id }),
        ({ disabledWebhookId }) => ({ deleted: disabledWebhookId }),
      ],
    ])('does what the API does: %s', async (tool, input, answer) => {
      expect((await writer.read(tool, input(fixture))).untrustedData).toMatchObject(answer(fixture));
    });
  });

  it('shows of the address of a webhook where it leads, never its path and query, and takes none back so', async () => {
    const url = 'https://hooks.example.com/services/T0/secret?token=secret';
    const created = await writer.call('create_webhook', { url, eventType: 'BotDetected' });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into results freely
    const { id, url: shown } = (created.structuredContent as any).untrustedData;
    expect(shown).toBe('https://hooks.example.com/…');
    const results = [
      await writer.call('update_webhook', { id, url: url.replace('T0', 'T1'), name: 'Hook' }),
      await writer.call('get_webhook', { id }),
      await writer.call('list_webhooks'),
    ];
    expect(JSON.stringify([created, results])).not.toContain('token');
    expect(await writer.fail('update_webhook', { id, url: shown })).toMatch(
      /^INVALID_ARGUMENTS \(field url\): .* without its path; give the whole address, or leave it out\.$/,
    );
    expect((await fixture.get(`/v1/webhooks/${id}`)).body.data.url).toBe(url.replace('T0', 'T1'));
    await writer.read('update_webhook', { id, url: 'https://hooks.example.com/' });
    expect((await writer.read('delete_webhook', { id })).untrustedData).toEqual({ deleted: id });
  });

  describe('the README', () => {
    const blocks = readBlocks('clients/mcp/README.md');

    it('lists every tool, what it takes, and the scope of those that change something', async () => {
      const { tools } = await writer.client.listTools();
      const rows = readFileSync('clients/mcp/README.md', 'utf8').matchAll(/^\| `([a-z_]+)` \| (.+?) \| (.+?) \|$/gm);
      const listed = Object.fromEntries([...rows].map(([, name, ...rest]) => [name, rest]));
      const expected = tools.map(({ name, description, inputSchema, annotations }) => {
        const [use] = description!.split(/(?<=\.) /);
        const takes = Object.keys(inputSchema.properties ?? {}).map((one) => `\`${one}\``);
        const scope = /needs the scope (\S+)\.$/.exec(description!)?.[1];
        return [name, [use, annotations?.readOnlyHint ? takes.join(', ') || '–' : `\`${scope}\``]];
      });
      expect(listed).toEqual(Object.fromEntries(expected));
    });

    it('has settings for assistants that start the installed program', async () => {
      const settings = blocks.filter(({ language }) => language === 'json').map(({ code }) => JSON.parse(code));
      expect(settings).toHaveLength(3);
      for (const { mcpServers, servers } of settings) {
        const { command, args, env } = (mcpServers ?? servers)['bot-detection'];
        expect([command, Object.keys(env)]).toEqual(['node', ['BOT_DETECTION_API_KEY', 'BOT_DETECTION_BASE_URL']]);
        const path = args[0].replace('/home/you/bot-detection', mcp.home);
        const { stderr } = await promisify(execFile)(command, [path, '--help']);
        expect(stderr).toContain('Usage: bot-detection-mcp');
      }
    });

    it('installs the version that there is', () => {
      const [install, add, ...others] = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
      const { version } = JSON.parse(readFileSync('clients/mcp/package.json', 'utf8'));
      expect(install).toContain(`./bot-detection-mcp-${version}.tgz`);
      expect(add).toContain('node_modules/bot-detection-mcp/dist/main.js');
      expect(others).toEqual([]);
    });
  });

  describe('texts', () => describeTexts(() => ({ mcp, server, receiverUrl: receiver.url, open })));
  const getFailureContext = () => ({ mcp, server, relay, open, mint });
  describe('failures', () => describeFailures(getFailureContext));
  describe('a change that is made again', () => describeRepeats(getFailureContext));
  describe('calls and the process', () => describeProcess(getFailureContext));
});
