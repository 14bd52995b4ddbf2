import { getInputOutputParsers } from 'trpc-to-openapi';
import { describe, expect, it } from 'vitest';
import type { ZodObject, ZodType } from 'zod';
import { API_VERSION } from '../../../contract/version';
import { ERASED_PAYLOAD } from '../../../server/domain/erased-users';
import { readEnv } from '../../../server/platform/env';
import { generateDocument } from '../../../server/rest/document';
import { ROUTES } from '../../../server/rest/routes';
import { document, server } from './shared-document';

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

interface Parameter {
  name: string;
  schema: { default?: unknown };
}

export function registerOperationTests(): void {
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
}
