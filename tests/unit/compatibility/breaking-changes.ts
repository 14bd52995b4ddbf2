import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/schema-compatibility';
import {
  botDetected,
  created,
  drop,
  findAfter,
  integration,
  payload,
  query,
  rename,
  sessions,
  threshold,
} from './compared-documents';

/** Mutations by the operation they affect and the finding they must cause. */
const BREAKING: Record<string, Record<string, (document: Json) => unknown>> = {
  '': {
    'GET /v1/integration is gone': (d) => delete d.paths['/v1/integration'],
    'PATCH /v1/webhooks/{id} is gone': (d) => delete d.paths['/v1/webhooks/{id}'].patch,
    'GET /health is gone': (d) => rename(d.paths, '/health', '/healthz'),
    'webhook BotDetected is gone': (d) => delete d.webhooks.BotDetected,
    'security scheme bearer_auth is gone': (d) => delete d.components.securitySchemes.bearer_auth,
    'security scheme api_key has name "x-key" instead of "x-api-key"': (d) =>
      Object.assign(d.components.securitySchemes.api_key, { name: 'x-key' }),
    'error code NOT_FOUND is gone': (d) =>
      drop(d.components.schemas.Error.properties.error.properties.code.examples, (code) => code === 'NOT_FOUND'),
  },
  'GET /health: ': {
    'security without a key is gone': (d) => Object.assign(d.paths['/health'].get, { security: [{ bearer_auth: [] }] }),
    'response 200: application/json is gone': (d) =>
      delete d.paths['/health'].get.responses['200'].content['application/json'],
  },
  'GET /v1/sessions: ': {
    'operationId is "readSessions" instead of "listSessions"': (d) =>
      Object.assign(sessions(d), { operationId: 'readSessions' }),
    'security api_key is gone': (d) => sessions(d).security.pop(),
    'security bearer_auth is gone': (d) => Object.assign(sessions(d).security[0], { api_key: [], second: [] }),
    'query parameter label is gone': (d) => drop(sessions(d).parameters, ({ name }) => name === 'label'),
    'query parameter origin is gone': (d) => Object.assign(query(d, 'origin'), { name: 'from' }),
    'query parameter cursor is gone': (d) => Object.assign(query(d, 'cursor'), { in: 'header' }),
    'query parameter label is required now': (d) => Object.assign(query(d, 'label'), { required: true }),
    'query parameter later is required now': (d) =>
      sessions(d).parameters.push({ in: 'query', name: 'later', required: true, schema: { type: 'string' } }),
    'header parameter x-later is required now': (d) =>
      Object.assign(d.paths['/v1/sessions'], { parameters: [{ in: 'header', name: 'X-Later', required: true }] }),
    'query parameter minBotScore no longer takes number': (d) =>
      Object.assign(query(d, 'minBotScore').schema, { type: 'integer' }),
    'query parameter userId has format "uuid" instead of none': (d) =>
      Object.assign(query(d, 'userId').schema, { format: 'uuid' }),
    'query parameter label lost the value "none"': (d) => query(d, 'label').schema.enum.pop(),
    'query parameter origin takes only "a", "b" now': (d) =>
      Object.assign(query(d, 'origin').schema, { enum: ['a', 'b'] }),
    'query parameter pageSize has maximum 50 instead of 100': (d) =>
      Object.assign(query(d, 'pageSize').schema, { maximum: 50 }),
    'query parameter pageSize has default 20 instead of 50': (d) =>
      Object.assign(query(d, 'pageSize').schema, { default: 20 }),
    'request is required now': (d) => Object.assign(sessions(d), { requestBody: { required: true, content: {} } }),
    'response 400 is gone': (d) => delete sessions(d).responses['400'],
    'response 200: header x-service-tier is gone': (d) => delete sessions(d).responses['200'].headers['x-service-tier'],
    'response 401: error code MISSING_API_KEY is gone': (d) =>
      delete sessions(d).responses['401'].content['application/json'].examples.MISSING_API_KEY,
  },
  'POST /v1/webhooks: request': {
    ' is gone': (d) => delete d.paths['/v1/webhooks'].post.requestBody,
    ': application/json is gone': (d) => delete d.paths['/v1/webhooks'].post.requestBody.content['application/json'],
    ': name is gone': (d) => delete created(d).properties.name,
    ': name is required now': (d) => created(d).required.push('name'),
    ': later is required now': (d) => {
      created(d).properties.later = { type: 'string' };
      created(d).required.push('later');
    },
    ': url no longer takes string': (d) => Object.assign(created(d).properties.url, { type: 'array' }),
    ': name no longer takes null': (d) => created(d).properties.name.type.pop(),
    ': enabled no longer takes null': (d) => Object.assign(created(d).properties.enabled, { enum: [true, false] }),
    ': name has maxLength 99 instead of 100': (d) => Object.assign(created(d).properties.name, { maxLength: 99 }),
    ': url has minLength 9 instead of none': (d) => Object.assign(created(d).properties.url, { minLength: 9 }),
    ': name has minLength 2 instead of 1': (d) => Object.assign(created(d).properties.name, { minLength: 2 }),
    ': url has pattern "^https:" instead of none': (d) =>
      Object.assign(created(d).properties.url, { pattern: '^https:' }),
    ': threshold.operator lost the value "in"': (d) => threshold(d).properties.operator.enum.pop(),
    ': threshold.value no longer takes array': (d) => threshold(d).properties.value.anyOf.pop(),
    ': threshold.value[] takes only string now': (d) =>
      Object.assign(threshold(d).properties.value.anyOf.at(-1).items, { type: 'string' }),
    ': threshold takes no further fields now': (d) => Object.assign(threshold(d), { additionalProperties: false }),
  },
  'GET /v1/integration: response 200: data.': {
    'plan is gone': (d) => delete integration(d).properties.plan,
    'serviceTier is gone': (d) => rename(integration(d).properties, 'serviceTier', 'tier'),
    'webhooks.max is gone': (d) => delete integration(d).properties.webhooks.properties.max,
    'name is number instead of string': (d) => Object.assign(integration(d).properties.name, { type: 'number' }),
    'name is number or string instead of string': (d) =>
      Object.assign(integration(d).properties.name, { type: ['string', 'number'] }),
    'name is any instead of string': (d) => delete integration(d).properties.name.type,
    'allowedOrigins[] is object instead of string': (d) =>
      Object.assign(integration(d).properties.allowedOrigins.items, { type: 'object' }),
    'createdAt has format "date" instead of "date-time"': (d) =>
      Object.assign(integration(d).properties.createdAt, { format: 'date' }),
    'createdAt has format none instead of "date-time"': (d) => delete integration(d).properties.createdAt.format,
    'name may be null now': (d) => Object.assign(integration(d).properties.name, { type: ['string', 'null'] }),
    'plan may be null now': (d) => {
      integration(d).properties.plan = { anyOf: [integration(d).properties.plan, { type: 'null' }] };
    },
    'webhooks may be null now': (d) => {
      integration(d).properties.webhooks = { oneOf: [integration(d).properties.webhooks, { type: 'null' }] };
    },
    'plan may be absent now': (d) => drop(integration(d).required, (name) => name === 'plan'),
    'region lost the value "eu"': (d) => integration(d).properties.region.enum.pop(),
    'region no longer lists its values': (d) => delete integration(d).properties.region.enum,
    'status lost the value "Active"': (d) => Object.assign(integration(d).properties.status, { const: 'Enabled' }),
  },
  'webhook BotDetected: ': {
    'request may be absent now': (d) => delete botDetected(d).requestBody.required,
    'request: botScore is gone': (d) => delete payload(d).properties.botScore,
    'request: botScore may be null now': (d) =>
      Object.assign(payload(d).properties.botScore, { type: ['number', 'null'] }),
    'request: botScore may be absent now': (d) => drop(payload(d).required, (name) => name === 'botScore'),
    'request: botScore has maximum 100 instead of 1': (d) =>
      Object.assign(payload(d).properties.botScore, { maximum: 100 }),
    'header parameter x-webhook-id is gone': (d) =>
      drop(botDetected(d).parameters, ({ name }) => name === 'X-Webhook-Id'),
    'header parameter x-webhook-event may be absent now': (d) => delete botDetected(d).parameters[0].required,
    'response 2XX is gone': (d) => delete botDetected(d).responses['2XX'],
  },
};

export function registerBreakingChangeTests(): void {
  describe('a breaking change is found and named', () => {
    const cases = Object.entries(BREAKING).flatMap(([place, findings]) =>
      Object.entries(findings).map(([finding, mutate]) => [place + finding, mutate] as const),
    );
    it.each(cases)('%s', (finding, mutate) => {
      expect(findAfter(mutate)).toEqual([finding]);
    });
  });
}
