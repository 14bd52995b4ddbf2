import { getInputOutputParsers } from 'trpc-to-openapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ZodObject, ZodType } from 'zod';
import { API_VERSION } from '../../contract/version';
import { ERASED_PAYLOAD } from '../../server/domain/erased-users';
import { readEnv } from '../../server/platform/env';
import { generateDocument } from '../../server/rest/document';
import { ROUTES } from '../../server/rest/routes';
import { expectError } from '../support/answers';
import { OpenApiDocument } from '../support/document';
import { closed, scored, scoredSession, started } from '../support/facts';
import { type CallOptions, startTestServer, type TestServer } from '../support/server';

/** Every public operation except the document and its page. */
const OPERATIONS = [
  'GET /health getHealth',
  'GET /v1/audit-log listAuditEntries',
  'GET /v1/exports/audit-log exportAuditEntries',
  'GET /v1/exports/sessions exportSessions',
  'GET /v1/exports/users exportUsers',
  'GET /v1/exports/webhook-events exportWebhookEvents',
  'GET /v1/analytics getAnalytics',
  'GET /v1/courses listCourses',
  'GET /v1/integration getIntegration',
  'GET /v1/sessions listSessions',
  'GET /v1/sessions/{sessionId} getSession',
  'GET /v1/sessions/{sessionId}/details getSessionDetails',
  'GET /v1/sessions/{sessionId}/events listSessionEvents',
  'GET /v1/sessions/{sessionId}/evidence getSessionEvidence',
  'POST /v1/sessions/{sessionId}/label labelSession',
  'GET /v1/settings/risk-thresholds getRiskThresholds',
  'PUT /v1/settings/risk-thresholds updateRiskThresholds',
  'GET /v1/stats getStats',
  'GET /v1/usage getUsage',
  'GET /v1/users listUsers',
  'GET /v1/users/{userId}/sessions listUserSessions',
  'DELETE /v1/users/{userId} eraseUser',
  'GET /v1/users/{userId}/export exportUser',
  'GET /v1/user-erasures/{receiptId} getUserErasure',
  'POST /v1/users/{userId}/devices/{fingerprint}/confirm confirmDevice',
  'GET /v1/webhooks listWebhooks',
  'POST /v1/webhooks createWebhook',
  'GET /v1/webhooks/{id} getWebhook',
  'PATCH /v1/webhooks/{id} updateWebhook',
  'DELETE /v1/webhooks/{id} deleteWebhook',
  'POST /v1/webhooks/{id}/rotate-secret rotateWebhookSecret',
  'POST /v1/webhooks/{id}/test testWebhook',
  'GET /v1/webhook-events listWebhookEvents',
  'GET /v1/webhook-events/{eventId} getWebhookEvent',
  'GET /v1/webhooks/{id}/deliveries listWebhookDeliveries',
  'GET /v1/webhooks/{id}/deliveries/{deliveryId} getWebhookDelivery',
  'POST /v1/webhooks/{id}/deliveries/{deliveryId}/resend resendWebhookDelivery',
  'POST /v1/webhooks/{id}/recover recoverWebhookDeliveries',
];

/** Actions that take no body. */
const WITHOUT_BODY = ['testWebhook', 'resendWebhookDelivery'];

/** The specification's delivery payloads. A `?` marks a nullable field. */
const PAYLOADS: Record<string, string[]> = {
  BotDetected: ['sessionId', 'botScore', 'scoredAt', 'userId?', 'contextId?', 'sessionUrl?'],
  SessionAnomaly: ['anomalyId', 'anomalyType', 'severity', 'detectedAt', 'sessionId?', 'userId?', 'metadata?'],
  ThresholdExceeded: ['metric', 'value', 'threshold', 'occurredAt', 'reason?'],
  AlertTriggered: ['alertId', 'severity', 'message', 'triggeredAt', 'alertUrl?'],
  ReportReady: [
    'reportId',
    'reportName',
    'templateId',
    'format',
    'recordCount?',
    'fileSize?',
    'completedAt',
    'expiresAt?',
    'downloadUrl',
  ],
  SessionCorrelated: ['sessionId', 'userId', 'correlationConfidence', 'correlatedAt', 'contextId?'],
  WritingSessionScored: ['sessionId', 'aiScore', 'scoredAt', 'userId?', 'documentId?', 'wordCount?'],
};

interface Parameter {
  name: string;
  schema: { default?: unknown };
}

const WEBHOOK = { url: 'https://example.com/hook', eventType: 'BotDetected' };

let server: TestServer;
let document: OpenApiDocument;
beforeAll(async () => {
  server = await startTestServer();
  document = new OpenApiDocument((await server.call('GET', '/openapi/v3.json')).body);
});
afterAll(() => server.stop());

describe('the document', () => {
  it('is OpenAPI 3.1 with the four-part version of /health', async () => {
    expect(document.json.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.json.info.version).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    expect(document.json.info.version).toBe(API_VERSION);
    expect((await server.call('GET', '/health')).body.version).toBe(API_VERSION);
  });

  it('lists exactly the public operations', () => {
    const operations = document
      .listOperations()
      .map(({ method, path, operation }) => `${method.toUpperCase()} ${path} ${operation.operationId}`);
    expect(operations.sort()).toEqual(OPERATIONS.toSorted());
  });

  it('has unique operation ids, in the webhooks section too', () => {
    const ids = [
      ...document.listOperations().map(({ operation }) => operation.operationId),
      ...Object.values<{ post: { operationId: string } }>(document.json.webhooks).map(({ post }) => post.operationId),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]*$/);
  });

  it('has a schema behind every reference', () => {
    const references = new Set(JSON.stringify(document.json).match(/"\$ref":"[^"]+"/g) ?? []);
    expect(references.size).toBeGreaterThan(5);
    for (const reference of references) {
      const pointer = /"\$ref":"#\/([^"]+)"/.exec(reference)?.[1];
      const target = pointer?.split('/').reduce((node, key) => node?.[key.replaceAll('~1', '/')], document.json);
      expect([reference, typeof target]).toEqual([reference, 'object']);
    }
  });

  it('describes each operation: summary, tag, parameters, responses', () => {
    const tags = document.json.tags.map(({ name }: { name: string }) => name);
    for (const { method, path, operation } of document.listOperations()) {
      expect(operation.summary, path).toMatch(/\S/);
      expect(operation.tags.length, path).toBeGreaterThan(0);
      for (const tag of operation.tags) expect(tags).toContain(tag);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const parameters = operation.parameters ?? [];
      const described = parameters.filter((p: { in: string }) => p.in === 'path');
      expect(described.map((p: { name: string }) => p.name)).toEqual(inPath);
      for (const parameter of parameters)
        expect([path, parameter.name, parameter.description ?? '']).toEqual([
          path,
          parameter.name,
          expect.stringMatching(/\S/),
        ]);
      for (const parameter of described) expect(parameter.required).toBe(true);
      const takesBody = ['post', 'patch', 'put'].includes(method) && !WITHOUT_BODY.includes(operation.operationId);
      expect(takesBody, path).toBe(operation.requestBody !== undefined);
    }
  });

  it('lists no status code that is not in use', () => {
    const used = ['200', '204', '400', '401', '402', '403', '404', '429', '500', '503'];
    for (const { path, operation } of document.listOperations())
      for (const status of Object.keys(operation.responses))
        expect([path, used]).toEqual([path, expect.arrayContaining([status])]);
  });

  it('requires a key under /v1 and nowhere else', () => {
    const { securitySchemes } = document.json.components;
    expect(securitySchemes.bearer_auth).toMatchObject({ type: 'http', scheme: 'bearer', bearerFormat: 'aik_v1_*' });
    const names = Object.keys(securitySchemes);
    const headerScheme = names.find((name) => securitySchemes[name].name === 'x-api-key')!;
    expect(securitySchemes[headerScheme]).toMatchObject({ type: 'apiKey', in: 'header', name: 'x-api-key' });
    for (const { path, operation } of document.listOperations()) {
      const expected = path.startsWith('/v1/') ? [{ bearer_auth: [] }, { [headerScheme]: [] }] : [];
      expect([path, operation.security ?? []]).toEqual([path, expected]);
    }
  });

  it('lists the filters of sessions and the page parameters', () => {
    const { parameters } = document.json.paths['/v1/sessions'].get;
    const names = parameters.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(
      ['cursor', 'pageSize', 'startDate', 'endDate', 'status', 'minBotScore', 'maxBotScore', 'riskLevel']
        .concat(['detectionFlag', 'label', 'userId', 'courseId', 'fingerprint', 'origin', 'deviceType'])
        .sort(),
    );
    const pageSize = parameters.find(({ name }: { name: string }) => name === 'pageSize');
    expect(pageSize.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 50 });
    for (const parameter of parameters) expect(parameter.required ?? false).toBe(false);
  });

  it('says the default of each parameter and field that has one', () => {
    const operations = document.listOperations();
    for (const { method, template, procedure } of ROUTES) {
      const { operation } = operations.find((one) => one.path === template && one.method === method.toLowerCase())!;
      const body = operation.requestBody?.content['application/json'].schema.properties ?? {};
      const parameters: Parameter[] = operation.parameters ?? [];
      const said = { ...body, ...Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])) };
      const { shape } = getInputOutputParsers(procedure as never).inputParser as ZodObject;
      for (const [name, schema] of Object.entries(shape)) {
        if (!said[name]) continue;
        const { data } = (schema as ZodType).safeParse(undefined);
        expect([operation.operationId, name, said[name].default]).toEqual([operation.operationId, name, data]);
      }
    }
  });

  it('says what a payload becomes when its user is erased', () => {
    for (const schema of ['WebhookEvent', 'WebhookDeliveryDetails'])
      expect(document.json.components.schemas[schema].properties.payload.description).toContain(ERASED_PAYLOAD);
  });

  it('says that usage counts whole days, whatever the time of a bound', () => {
    for (const { name, description } of document.json.paths['/v1/usage'].get.parameters)
      expect([name, description]).toEqual([name, expect.stringMatching(/whole UTC days/)]);
  });

  it('names no default of a field in a change: what is absent stays as it is', () => {
    const { requestBody } = document.listOperations().find(({ method }) => method === 'patch')!.operation;
    expect(JSON.stringify(requestBody)).not.toMatch(/default/i);
  });

  it('names / as its server, or the regions’ servers if they are set', () => {
    expect(document.json.servers.map(({ url }: { url: string }) => url)).toEqual(['/']);
    const urls = { PUBLIC_URL_US: 'https://us.example.com', PUBLIC_URL_EU: 'https://eu.example.com' };
    const serversOf = (settings: Record<string, string>) =>
      generateDocument(readEnv(settings)).servers?.map(({ url }) => url);
    expect(serversOf(urls)).toEqual(['https://us.example.com', 'https://eu.example.com']);
    expect(serversOf({ PUBLIC_URL_EU: urls.PUBLIC_URL_EU })).toEqual(['https://eu.example.com']);
    expect(serversOf({ ...urls, REGION: 'eu' })).toEqual(['https://eu.example.com', 'https://us.example.com']);
  });

  it('gives an example of every error that an operation can answer, and each is valid', () => {
    for (const { method, path, operation } of document.listOperations())
      for (const [status, response] of Object.entries<Record<string, never>>(operation.responses)) {
        const content = (response as { content?: Record<string, { examples?: Record<string, { value: unknown }> }> })
          .content;
        const examples = Object.entries(content?.['application/json']?.examples ?? {});
        if (Number(status) >= 400) expect([path, status, examples.length > 0]).toEqual([path, status, true]);
        for (const [code, { value }] of examples) {
          expect((value as { error: { code: string } }).error.code).toBe(code);
          document.expectValid(
            value,
            'paths',
            path,
            method,
            'responses',
            status,
            'content',
            'application/json',
            'schema',
          );
        }
      }
  });

  it('lets every /v1 operation answer 401 with both codes, 429 and 503', () => {
    for (const { path, operation } of document.listOperations()) {
      if (!path.startsWith('/v1/')) continue;
      const codesOf = (status: string) =>
        Object.keys(operation.responses[status]?.content['application/json'].examples ?? {});
      expect([path, codesOf('401').sort()]).toEqual([path, ['INVALID_API_KEY', 'MISSING_API_KEY']]);
      expect([path, codesOf('429'), codesOf('503')]).toEqual([path, ['RATE_LIMITED'], ['SERVICE_UNAVAILABLE']]);
    }
  });
});

describe('code generators', () => {
  interface Node {
    [keyword: string]: unknown;
    type?: unknown;
    anyOf?: Node[];
    items?: Node;
  }
  /** What one of the generators makes no working client of. */
  const FAULTS: Record<string, (node: Node) => unknown> = {
    'null next to a type': ({ anyOf }) =>
      anyOf?.some(({ type }) => type === 'null') &&
      anyOf.some(({ $ref }) => !$ref) &&
      anyOf.some(({ type }) => type !== undefined && type !== 'null'),
    'anyOf within anyOf': ({ anyOf }) => anyOf?.some((choice) => choice.anyOf),
    'a list of a union': ({ items }) => items?.anyOf,
    'a constant boolean': (node) => typeof node.const === 'boolean',
    'an object that may get no fields': ({ additionalProperties }) => additionalProperties === false,
    'names of a map': ({ propertyNames }) => propertyNames,
    'a body without a name': (node) => {
      const json = (node['application/json'] as { schema: Node } | undefined)?.schema;
      return json && !json.$ref;
    },
  };

  it('find only forms that they understand', () => {
    const found: string[] = [];
    const visit = (node: unknown, path: string) => {
      if (typeof node !== 'object' || node === null) return;
      for (const [fault, isFaulty] of Object.entries(FAULTS))
        if (isFaulty(node as Node)) found.push(`${fault}: ${path}`);
      for (const [key, child] of Object.entries(node)) visit(child, `${path}/${key}`);
    };
    visit(document.json, '');
    expect(found).toEqual([]);
  });

  it('find a licence identifier, and no tag that operations and events share', () => {
    expect(document.json.info.license.identifier).toMatch(/^LicenseRef-/);
    const tagsOf = (items: object) =>
      Object.values(items).flatMap((item) => Object.values<{ tags: string[] }>(item).flatMap(({ tags }) => tags));
    const ofOperations = tagsOf(document.json.paths);
    expect(tagsOf(document.json.webhooks).filter((tag) => ofOperations.includes(tag))).toEqual([]);
  });
});

describe('its delivery', () => {
  it('has ETag, CORS, cache headers and a length', async () => {
    const { status, headers, text } = await server.call('GET', '/openapi/v3.json');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(headers.get('etag')).toMatch(/^"[^"]+"$/);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  });

  it('is always 200, also for a client that already has it', async () => {
    const first = await server.call('GET', '/openapi/v3.json');
    const etag = first.headers.get('etag')!;
    const conditions = [
      ['if-none-match', etag],
      ['if-none-match', '*'],
      ['if-modified-since', new Date().toUTCString()],
    ];
    for (const [name, value] of conditions) {
      const again = await server.call('GET', '/openapi/v3.json', { headers: { [name!]: value! } });
      expect([again.status, again.headers.get('etag'), again.text]).toEqual([200, etag, first.text]);
    }
  });

  it('ignores a query', async () => {
    expect((await server.call('GET', '/openapi/v3.json?x=1')).status).toBe(200);
  });

  it('is the only answer with CORS', async () => {
    const { key } = await server.createTenant();
    for (const path of ['/health', '/swagger', '/v1/sessions', '/v1/unknown']) {
      const { headers } = await server.call('GET', path, { key, headers: { origin: 'https://evil.example' } });
      expect([path, headers.get('access-control-allow-origin')]).toEqual([path, null]);
    }
  });
});

describe('every real answer matches the document', () => {
  let key: string;
  let id: string;
  beforeAll(async () => {
    const tenant = await server.createTenant('enterprise');
    key = tenant.key;
    await server.ingest(tenant.id, [
      started('active'),
      started('all', { deviceFingerprint: 'fp', country: 'DE' }),
      closed('all'),
      scored('all', 0.5, { detectionFlags: ['a'] }),
      ...scoredSession(1, 'bot').facts,
    ]);
    id = (await server.call('POST', '/v1/webhooks', { key, body: { ...WEBHOOK, enabled: false } })).body.data.id;
  });

  async function check(method: string, path: string, template: string, status: number, options: CallOptions = { key }) {
    const answer = await server.call(method, path, options);
    expect([method, path, answer.status, answer.status === status ? '' : answer.text]).toEqual([
      method,
      path,
      status,
      '',
    ]);
    document.expectDocumented(answer, method, template);
    return answer;
  }

  it('of health', async () => {
    const { body } = await check('GET', '/health', '/health', 200, {});
    expect(Object.keys(body).sort()).toEqual(['status', 'timestamp', 'version']);
    expect(Math.abs(Date.parse(body.timestamp) - Date.now())).toBeLessThan(60_000);
  });

  it('of sessions', async () => {
    const first = await check('GET', '/v1/sessions?pageSize=2', '/v1/sessions', 200);
    await check('GET', `/v1/sessions?cursor=${first.body.pagination.nextCursor}`, '/v1/sessions', 200);
    await check('GET', '/v1/sessions?status=Failed', '/v1/sessions', 200);
    await check('GET', '/v1/sessions?pageSize=0', '/v1/sessions', 400);
    for (const session of ['active', 'all', 'bot'])
      await check('GET', `/v1/sessions/${session}`, '/v1/sessions/{sessionId}', 200);
    await check('GET', '/v1/sessions/unknown', '/v1/sessions/{sessionId}', 404);
    await check('GET', '/v1/sessions/%zz', '/v1/sessions/{sessionId}', 400);
  });

  it('of the integration', async () => {
    await check('GET', '/v1/integration', '/v1/integration', 200);
  });

  it('of webhooks', async () => {
    const one = '/v1/webhooks/{id}';
    const threshold = { field: 'botScore', operator: 'gte', value: '0.9' };
    await check('GET', '/v1/webhooks', '/v1/webhooks', 200);
    const post = (body: unknown, status: number) =>
      check('POST', '/v1/webhooks', '/v1/webhooks', status, { key, body });
    const created = await post({ ...WEBHOOK, threshold, enabled: false }, 200);
    for (const value of [['a', 1, true], 'x', 5, false])
      await post(
        {
          ...WEBHOOK,
          enabled: false,
          threshold: { ...threshold, operator: Array.isArray(value) ? 'in' : 'eq', value },
        },
        200,
      );
    await post('{', 400);
    await post({ ...WEBHOOK, enabled: 1 }, 400);
    await post({ ...WEBHOOK, url: 'ftp://x/' }, 400);
    await post({ ...WEBHOOK, eventType: 'x' }, 400);
    await check('GET', `/v1/webhooks/${id}`, one, 200);
    await check('GET', '/v1/webhooks/unknown', one, 404);
    await check('GET', '/v1/webhooks/%zz', one, 400);
    const patch = (body: unknown, status: number, path = id) =>
      check('PATCH', `/v1/webhooks/${path}`, one, status, { key, body });
    await patch({ threshold }, 200);
    await patch({ threshold: null }, 200);
    await patch({ url: 'http://localhost/' }, 400);
    await patch({}, 404, 'unknown');
    await check('DELETE', `/v1/webhooks/${created.body.data.id}`, one, 204);
    await check('DELETE', `/v1/webhooks/${created.body.data.id}`, one, 404);
    await check('DELETE', '/v1/webhooks/%zz', one, 400);
  });

  it('of a plan’s cap', async () => {
    const pro = await server.createTenant('pro');
    const options = { key: pro.key, body: { ...WEBHOOK, enabled: false } };
    const disabled = (await check('POST', '/v1/webhooks', '/v1/webhooks', 200, options)).body.data;
    await check('POST', '/v1/webhooks', '/v1/webhooks', 200, { key: pro.key, body: WEBHOOK });
    await check('POST', '/v1/webhooks', '/v1/webhooks', 402, { key: pro.key, body: WEBHOOK });
    const enable = { key: pro.key, body: { enabled: true } };
    await check('PATCH', `/v1/webhooks/${disabled.id}`, '/v1/webhooks/{id}', 402, enable);
  });

  it('of authentication', async () => {
    for (const { method, path } of document.listOperations().filter((operation) => operation.path.startsWith('/v1/'))) {
      const target = path.replace(/\{\w+\}/, 'x');
      await check(method.toUpperCase(), target, path, 401, {});
      await check(method.toUpperCase(), target, path, 401, { key: 'aik_v1_x' });
    }
  });

  it('of a used-up quota', async () => {
    const small = await startTestServer({ QUOTA_FREE: '1', QUOTA_SHARED_FREE: '1' }, server);
    const free = await server.createTenant('free');
    const ways: Record<string, string>[] = [{ authorization: `Bearer ${free.key}` }, { 'x-api-key': free.key }];
    for (const headers of ways) {
      // A minute may begin in between. Two requests more than the quota always exceed it.
      const answers = [];
      for (let n = 0; n < 3; n++) answers.push(await small.call('GET', '/v1/sessions', { headers }));
      const limited = answers.find(({ status }) => status === 429)!;
      document.expectDocumented(limited, 'GET', '/v1/sessions');
    }
    await small.stop();
  });

  it('of an outage, which is 503 and not a fault', async () => {
    const broken = await startTestServer({}, server);
    await broken.service.db.close();
    const answer = await broken.call('GET', '/v1/sessions', { key });
    expectError(answer, 'SERVICE_UNAVAILABLE');
    expect(answer.headers.get('x-request-id')).toMatch(/\S/);
    expect((await broken.call('GET', '/health')).status).toBe(200);
    await broken.stop();
  });

  it('and the routes take the bodies that the document describes', () => {
    const bodyOf = (path: string, method: string) => [
      'paths',
      path,
      method,
      'requestBody',
      'content',
      'application/json',
      'schema',
    ];
    const create = bodyOf('/v1/webhooks', 'post');
    const update = bodyOf('/v1/webhooks/{id}', 'patch');
    const threshold = { field: 'botScore', operator: 'gte', value: 0.9 };
    for (const body of [
      WEBHOOK,
      { ...WEBHOOK, threshold, name: 'x', enabled: true },
      { ...WEBHOOK, threshold: null, name: null, enabled: null },
    ])
      document.expectValid(body, ...create);
    for (const body of [{}, { threshold: null }, { threshold }, { name: 'x', enabled: false, ...WEBHOOK }])
      document.expectValid(body, ...update);
    for (const body of [
      {},
      { url: WEBHOOK.url },
      { ...WEBHOOK, enabled: 'false' },
      { ...WEBHOOK, name: 'x'.repeat(101) },
      { ...WEBHOOK, threshold: { field: 'a' } },
    ])
      expect([body, document.validatorAt(...create)(body)]).toEqual([body, false]);
    for (const body of [{ url: null }, { name: null }, { enabled: null }, { enabled: 0 }])
      expect([body, document.validatorAt(...update)(body)]).toEqual([body, false]);
  });
});

describe('the webhooks section', () => {
  const schemaOf = (name: string) => ['webhooks', name, 'post', 'requestBody', 'content', 'application/json', 'schema'];

  it('has each event and the test delivery', () => {
    expect(Object.keys(document.json.webhooks).sort()).toEqual([...Object.keys(PAYLOADS), 'TestDelivery'].sort());
  });

  it.each(Object.entries(PAYLOADS))('describes the payload of %s as the specification does', (name, fields) => {
    const { post } = document.json.webhooks[name];
    const { examples } = post.requestBody.content['application/json'];
    const schema = document.schemaAt(...schemaOf(name));
    const names = fields.map((field) => field.replace('?', ''));
    expect(Object.keys(schema.properties).sort()).toEqual(names.toSorted());
    expect(schema.required).toEqual(expect.arrayContaining(fields.filter((field) => !field.endsWith('?'))));
    const [sample] = Object.values<{ value: Record<string, unknown> }>(examples);
    document.expectValid(sample!.value, ...schemaOf(name));
    const validate = document.validatorAt(...schemaOf(name));
    for (const field of fields.filter((other) => !other.endsWith('?'))) {
      expect([field, validate({ ...sample!.value, [field]: null })]).toEqual([field, false]);
      const { [field]: _, ...without } = sample!.value;
      expect([field, validate(without)]).toEqual([field, false]);
    }
    const nulls = Object.fromEntries(names.filter((_, n) => fields[n]!.endsWith('?')).map((field) => [field, null]));
    expect(validate({ ...sample!.value, ...nulls })).toBe(true);
    // Adding a field is non-breaking.
    expect(validate({ ...sample!.value, later: 1 })).toBe(true);
  });

  it.each(Object.keys(PAYLOADS))('describes the headers of %s', (name) => {
    const { parameters } = document.json.webhooks[name].post;
    const required = [
      'X-Webhook-Event',
      'X-Webhook-Id',
      'X-Webhook-Delivery-Id',
      'X-Webhook-Timestamp',
      'X-Webhook-Signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ];
    const namesOf = (isRequired: boolean) =>
      parameters
        .filter((p: { in: string; required?: boolean }) => p.in === 'header' && (p.required ?? false) === isRequired)
        .map((p: { name: string }) => p.name);
    expect(namesOf(true).sort()).toEqual(required.toSorted());
    expect(namesOf(false)).toEqual(['X-Webhook-Signature-Previous', 'X-Webhook-Test']);
  });
});

describe('the test delivery in the webhooks section', () => {
  it('is the wrapper of the specification, with the test header', () => {
    const { parameters, requestBody } = document.json.webhooks.TestDelivery.post;
    expect(parameters.find((p: { name: string }) => p.name === 'X-Webhook-Test').required).toBe(true);
    const { examples } = requestBody.content['application/json'];
    const keys = ['webhooks', 'TestDelivery', 'post', 'requestBody', 'content', 'application/json', 'schema'];
    const schema = document.schemaAt(...keys);
    expect(schema.required).toEqual(['eventType', 'integrationId', 'timestamp', 'data']);
    expect(schema.properties.data.required).toEqual(['test', 'message', 'subscriptionId', 'deliveryId']);
    document.expectValid(examples.TestDelivery.value, ...keys);
  });
});

describe('/swagger', () => {
  it('is a page without inline script, under a policy that allows none', async () => {
    const { status, headers, text } = await server.call('GET', '/swagger');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/html/);
    for (const [tag, attributes, content] of [...text.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)])
      expect([tag, /\bsrc="/.test(attributes!), content]).toEqual([tag, true, '']);
    expect(text).not.toMatch(/\son\w+\s*=|javascript:|<style/i);
    const policy = Object.fromEntries(
      (headers.get('content-security-policy') ?? '').split(';').map((directive) => {
        const [name, ...values] = directive.trim().split(/\s+/);
        return [name, values];
      }),
    );
    expect(policy['script-src']).toEqual(["'self'"]);
    expect(policy['default-src']).toEqual(["'none'"]);
    expect(policy['frame-ancestors']).toEqual(["'none'"]);
    expect(policy['connect-src']).toEqual(["'self'"]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('loads only its own assets, and each exists', async () => {
    const { text } = await server.call('GET', '/swagger');
    const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThanOrEqual(3);
    const types: Record<string, RegExp> = { css: /^text\/css/, js: /javascript/, png: /^image\/png/ };
    for (const link of links) {
      expect(link).toMatch(/^\/swagger\//);
      const asset = await server.call('GET', link);
      expect([link, asset.status]).toEqual([link, 200]);
      expect(asset.headers.get('content-type')).toMatch(types[link.split('.').at(-1)!]!);
      expect(asset.headers.get('content-security-policy')).toMatch(/script-src 'self'/);
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
      expect(asset.text.length).toBeGreaterThan(50);
    }
  });

  it('also answers with a trailing slash, and calls / whatever the document’s servers are', async () => {
    const slashed = await server.call('GET', '/swagger/');
    expect([slashed.status, slashed.headers.get('location')]).toEqual([200, null]);
    const start = await server.call('GET', '/swagger/start.js');
    expect(start.text).toContain('/openapi/v3.json');
    expect(start.text).toMatch(/servers = \[\{ url: '\/' \}\]/);
  });

  it.each([
    'unknown.js',
    '..%2Fpackage.json',
    '%2e%2e/package.json',
    'constructor',
    '__proto__',
    'package.json',
    'index.html',
  ])('serves no other file: /swagger/%s', async (name) => {
    expect((await server.call('GET', `/swagger/${name}`)).status).toBe(404);
  });
});
