import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../contract/version';
import { readEnv } from '../../server/platform/env';
import { readDocument } from '../../server/rest/document';
import { bundleChildScript, type ChildScript } from '../support/child-script';
import { findBreakingChanges, findObjections } from '../support/compatibility';
import { releaseDocument } from '../support/released-document';
import { type Direction, entriesOf, type Json, resolve } from '../support/schema-compatibility';

const RELEASED_PATH = 'docs/openapi.json';
const released: Json = JSON.parse(readFileSync(RELEASED_PATH, 'utf8'));
const current: Json = JSON.parse(readDocument(readEnv({})).body as string);

/** Lists what the comparison finds in the released document after a mutation. */
function findAfter(mutate: (document: Json) => void, before = released): string[] {
  const after = structuredClone(before);
  mutate(after);
  return findBreakingChanges(before, after);
}

/** Finds the node at some keys of a document, through references. */
const at = (document: Json, ...keys: string[]): Json =>
  keys.reduce((node, key) => {
    const next = node[key];
    return next.$ref
      ? next.$ref
          .slice(2)
          .split('/')
          .reduce((target: Json, part: string) => target[part], document)
      : next;
  }, document);

const bodyOf = ['content', 'application/json', 'schema'];
const integration = (document: Json) => document.components.schemas.Integration;
const created = (document: Json) => at(document, 'paths', '/v1/webhooks', 'post', 'requestBody', ...bodyOf);
/** The threshold of a create request alone: an update request refers to the same schema. */
const threshold = (document: Json) => {
  const choices = created(document).properties.threshold.anyOf;
  if (choices[0].$ref) choices[0] = structuredClone(document.components.schemas.ThresholdInput);
  return choices[0];
};
const sessions = (document: Json) => document.paths['/v1/sessions'].get;
const botDetected = (document: Json) => document.webhooks.BotDetected.post;
const payload = (document: Json) => at(document, 'webhooks', 'BotDetected', 'post', 'requestBody', ...bodyOf);
const query = (document: Json, name: string) => sessions(document).parameters.find((each: Json) => each.name === name);
const drop = (list: unknown[], isIt: (item: Json) => boolean) => list.splice(list.findIndex(isIt), 1);
const rename = (holder: Json, from: string, to: string) => {
  holder[to] = holder[from];
  delete holder[from];
};

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

const ADDITIONS: [title: string, mutate: (document: Json) => void][] = [
  ['nothing', () => {}],
  [
    'a route, a method, an event',
    (d) => {
      d.paths['/v1/later'] = { get: sessions(d) };
      d.paths['/v1/sessions'].post = d.paths['/v1/webhooks'].post;
      d.webhooks.Later = d.webhooks.BotDetected;
    },
  ],
  [
    'an optional parameter, an optional request field, an optional body',
    (d) => {
      sessions(d).parameters.push({ in: 'query', name: 'later', schema: { type: 'string' } });
      created(d).properties.later = { type: 'string' };
      sessions(d).requestBody = { content: {} };
    },
  ],
  ['a required field that becomes optional', (d) => drop(created(d).required, (name) => name === 'eventType')],
  [
    'a wider request',
    (d) => {
      Object.assign(query(d, 'pageSize').schema, { type: 'number', minimum: 0, maximum: 1000 });
      query(d, 'label').schema.enum.push('unsure');
      delete query(d, 'riskLevel').schema.enum;
      Object.assign(created(d).properties.name, { maxLength: 200, minLength: 0 });
      delete threshold(d).properties.field.maxLength;
      created(d).properties.url = { anyOf: [{ type: 'null' }, created(d).properties.url] };
      threshold(d).properties.operator = {};
    },
  ],
  [
    'new fields in answers and payloads, even required',
    (d) => {
      integration(d).properties.later = { type: 'string' };
      integration(d).required.push('later');
      payload(d).properties.later = { type: 'string' };
      payload(d).required.push('later');
      botDetected(d).parameters.push({ in: 'header', name: 'X-Later', required: true, schema: { type: 'string' } });
    },
  ],
  [
    'new values in answers',
    (d) => {
      integration(d).properties.region.enum.push('ap');
      integration(d).properties.status = { type: 'string', enum: ['Active', 'Paused'] };
    },
  ],
  [
    'a response field that is no longer null',
    (d) => {
      d.components.schemas.Session.properties.userName.type = 'string';
      d.components.schemas.Session.properties.botScore.type.pop();
    },
  ],
  [
    'a new format of a response field',
    (d) => Object.assign(integration(d).properties.id, { format: 'uuid', minLength: 1 }),
  ],
  [
    'a status, a code, a header, a media type',
    (d) => {
      sessions(d).responses['402'] = sessions(d).responses['400'];
      const { content } = sessions(d).responses['400'];
      content['application/json'].examples.LATER = { value: { error: { code: 'LATER' } } };
      content['application/xml'] = {};
      sessions(d).responses['200'].headers['x-later'] = { schema: { type: 'string' } };
      d.components.schemas.Error.properties.error.properties.code.examples.push('LATER');
    },
  ],
  [
    'another way to authenticate, and none',
    (d) => {
      d.components.securitySchemes.later = { type: 'http', scheme: 'basic' };
      sessions(d).security.push({ later: [] });
      d.paths['/v1/integration'].get.security = [];
    },
  ],
  [
    'changed descriptions, examples, tags, servers, version',
    (d) => {
      Object.assign(d, { tags: [], servers: [{ url: 'https://example.com' }] });
      Object.assign(d.info, { title: 'x', description: 'x', version: '9.0.0.0' });
      Object.assign(sessions(d), { summary: 'x', description: 'x', tags: ['x'] });
      Object.assign(query(d, 'label'), { description: 'x', example: 'bot' });
      integration(d).properties.name.example = 'x';
      d.components.securitySchemes.api_key.description = 'x';
    },
  ],
  [
    'the same, written differently',
    (d) => {
      d.components.parameters = { Label: query(d, 'label') };
      sessions(d).parameters[sessions(d).parameters.indexOf(query(d, 'label'))] = {
        $ref: '#/components/parameters/Label',
      };
      d.paths['/v1/sessions'].parameters = sessions(d).parameters.splice(0, 3);
      const { responses } = d.paths['/v1/integration'].get;
      at(d, 'components', 'schemas', 'GetIntegrationResponse').properties.data = structuredClone(integration(d));
      responses['200'].headers['X-Request-Id'] = responses['200'].headers['x-request-id'];
      delete responses['200'].headers['x-request-id'];
      const { properties } = d.components.schemas.Session;
      properties.userName = { anyOf: [{ type: 'string' }, { type: 'null' }] };
      properties.riskLevel = { type: ['string', 'null'], enum: [null, 'human', 'medium', 'bot'] };
      properties.label = { oneOf: [{ type: 'null' }, { allOf: [properties.label.anyOf[0], { description: 'x' }] }] };
    },
  ],
];

describe('a breaking change is found and named', () => {
  const cases = Object.entries(BREAKING).flatMap(([place, findings]) =>
    Object.entries(findings).map(([finding, mutate]) => [place + finding, mutate] as const),
  );
  it.each(cases)('%s', (finding, mutate) => {
    expect(findAfter(mutate)).toEqual([finding]);
  });
});

describe('an addition is not a breaking change', () => {
  it.each(ADDITIONS)('%s', (_, mutate) => {
    expect(findAfter(mutate)).toEqual([]);
  });
});

interface Operation {
  section: 'paths' | 'webhooks';
  path: string;
  method: string;
  operation: Json;
}

interface Mutation {
  title: string;
  /** The operation where it shows; null for all. */
  operation: Operation | null;
  apply: () => void;
  undo: () => void;
}

const listOperations = (document: Json): Operation[] =>
  (['paths', 'webhooks'] as const).flatMap((section) =>
    entriesOf(document[section]).flatMap(([path, item]) =>
      entriesOf(item).map(([method, operation]) => ({ section, path, method, operation })),
    ),
  );

/**
 * Lists every schema that a request or an answer can reach, once, with one such operation and the direction of its
 * values.
 */
function listSchemas(document: Json): { schema: Json; place: string; operation: Operation; direction: Direction }[] {
  const found: ReturnType<typeof listSchemas> = [];
  const visit = (node: Json, place: string, operation: Operation, direction: Direction) => {
    const schema = node?.$ref ? at(document, ...node.$ref.slice(2).split('/')) : node;
    if (typeof schema !== 'object' || found.some((each) => each.schema === schema)) return;
    found.push({ schema, place, operation, direction });
    const parts = [schema.items, schema.additionalProperties, schema.anyOf, schema.oneOf, schema.allOf].flat();
    for (const part of parts) visit(part, place, operation, direction);
    for (const [name, field] of entriesOf(schema.properties)) visit(field, `${place}.${name}`, operation, direction);
  };
  for (const each of listOperations(document)) {
    const [request, response]: Direction[] = each.section === 'paths' ? ['in', 'out'] : ['out', 'in'];
    for (const { name, schema } of each.operation.parameters) visit(schema, name, each, request!);
    for (const [, { schema }] of entriesOf(each.operation.requestBody?.content)) visit(schema, '', each, request!);
    for (const [status, { content }] of entriesOf(each.operation.responses))
      for (const [, { schema }] of entriesOf(content)) visit(schema, status, each, response!);
  }
  return found;
}

/** Sets a member of an object, or removes it without a value. */
function change(place: string, operation: Operation | null, holder: Json, key: string, value?: unknown): Mutation {
  const set = (to: unknown) => () => {
    if (to === undefined) delete holder[key];
    else holder[key] = to;
  };
  const title = `${operation?.method} ${operation?.path} ${place} ${key} ${value}`;
  return { title, operation, apply: set(value), undo: set(holder[key]) };
}

const removeItems = (place: string, operation: Operation | null, holder: Json, key: string): Mutation[] =>
  (holder[key] ?? []).map((_: Json, n: number) => change(place, operation, holder, key, holder[key].toSpliced(n, 1)));
const removeMembers = (place: string, operation: Operation | null, holder: Json): Mutation[] =>
  Object.keys(holder ?? {}).map((key) => change(place, operation, holder, key));

/** Lists the mutations that cause no finding. */
function listUnfound(document: Json, mutations: Mutation[]): string[] {
  return mutations.flatMap(({ title, operation, apply, undo }) => {
    apply();
    // One operation is enough, and takes a fraction of the time.
    const narrow = (whole: Json) =>
      operation
        ? {
            ...whole,
            paths: {},
            webhooks: {},
            [operation.section]: { [operation.path]: whole[operation.section][operation.path] },
          }
        : whole;
    const findings = findBreakingChanges(narrow(released), narrow(document));
    undo();
    return findings.length > 0 ? [] : [title];
  });
}

describe('in the whole document', () => {
  const document = structuredClone(released);
  const operations = listOperations(document);
  const schemas = listSchemas(document);
  const schemasOf = (direction: Direction) => schemas.filter((each) => each.direction === direction);
  const responses = operations.flatMap((each) =>
    entriesOf(each.operation.responses).map(([status, response]) => ({ each, status, response })),
  );
  const contents = responses.flatMap(({ each, status, response }) =>
    Object.values<Json>(response.content ?? {}).map((content) => ({ each, status, content })),
  );
  const { code } = document.components.schemas.Error.properties.error.properties;

  it.each<[string, Mutation[]]>([
    ['operation', operations.map((each) => change('', each, document[each.section][each.path], each.method))],
    ['parameter', operations.flatMap((each) => removeItems('', each, each.operation, 'parameters'))],
    ['way to authenticate', operations.flatMap((each) => removeItems('', each, each.operation, 'security'))],
    [
      'request',
      operations.flatMap((each) =>
        each.operation.requestBody ? [change('', each, each.operation, 'requestBody')] : [],
      ),
    ],
    ['status', operations.flatMap((each) => removeMembers('', each, each.operation.responses))],
    ['header', responses.flatMap(({ each, status, response }) => removeMembers(status, each, response.headers))],
    ['media type', responses.flatMap(({ each, status, response }) => removeMembers(status, each, response.content))],
    [
      'error code of an operation',
      contents
        .filter(({ status }) => /^[45]/.test(status))
        .flatMap(({ each, status, content }) => removeMembers(status, each, content.examples)),
    ],
    ['error code', removeItems('', null, code, 'examples')],
    ['security scheme', removeMembers('', null, document.components.securitySchemes)],
    ['field', schemas.flatMap(({ schema, place, operation }) => removeMembers(place, operation, schema.properties))],
    [
      'value',
      schemas.flatMap(({ schema, place, operation, direction }) =>
        // An answer that is no longer null breaks nothing.
        removeItems(place, operation, schema, 'enum').filter((_, n) => direction === 'in' || schema.enum[n] !== null),
      ),
    ],
    [
      'alternative of what we take',
      schemasOf('in').flatMap(({ schema, place, operation }) => removeItems(place, operation, schema, 'anyOf')),
    ],
  ])('no %s can go', (_, removals) => {
    expect(removals.length).toBeGreaterThan(1);
    expect(listUnfound(document, removals)).toEqual([]);
  });

  it('no type can change', () => {
    const retyped = schemas
      .filter(({ schema }) => schema.type !== undefined)
      .map(({ schema, place, operation }) =>
        change(place, operation, schema, 'type', schema.type === 'boolean' ? 'string' : 'boolean'),
      );
    expect(retyped.length).toBeGreaterThan(100);
    expect(listUnfound(document, retyped)).toEqual([]);
  });

  it('no field in an answer can become nullable or optional', () => {
    const isNullable = (schema: Json): boolean =>
      schema.type === undefined ? (schema.anyOf ?? []).some(isNullable) : [schema.type].flat().includes('null');
    const loosened = schemasOf('out').flatMap(({ schema, place, operation }) => [
      ...removeItems(place, operation, schema, 'required'),
      ...entriesOf(schema.properties)
        .filter(([, field]) => !isNullable(resolve(document, field)))
        .map(([name, field]) =>
          change(place, operation, schema.properties, name, { anyOf: [field, { type: 'null' }] }),
        ),
    ]);
    expect(loosened.length).toBeGreaterThan(100);
    expect(listUnfound(document, loosened)).toEqual([]);
  });

  it('no field or parameter of a request can become required', () => {
    const fields = schemasOf('in')
      .filter(({ schema }) => schema.type === 'object')
      .flatMap(({ schema, place, operation }) =>
        [...Object.keys(schema.properties ?? {}), 'later']
          .filter((name) => !schema.required?.includes(name))
          .map((name) => change(place, operation, schema, 'required', [...(schema.required ?? []), name])),
      );
    const parameters = operations
      .filter(({ section }) => section === 'paths')
      .flatMap((each) => each.operation.parameters.map((parameter: Json) => ({ each, parameter })))
      .filter(({ parameter }) => !parameter.required)
      .map(({ each, parameter }) => change(parameter.name, each, parameter, 'required', true));
    expect(fields.length).toBeGreaterThan(5);
    expect(parameters.length).toBeGreaterThan(10);
    expect(listUnfound(document, [...fields, ...parameters])).toEqual([]);
  });

  it('the mutations left the document unchanged', () => {
    expect(document).toEqual(released);
  });
});

describe('the product', () => {
  const objectionsTo = (mutate: (document: Json) => void) => {
    const later = structuredClone(released);
    mutate(later);
    return findObjections(released, later);
  };

  it('is compatible with the released document, and every change comes with a higher version', () => {
    expect(findObjections(released, current)).toEqual([]);
  });

  it('would fail otherwise', () => {
    const { version } = released.info;
    expect(objectionsTo((d) => Object.assign(d, { servers: [{ url: 'https://example.com' }] }))).toEqual([]);
    expect(objectionsTo((d) => Object.assign(d.info, { title: 'x' }))).toEqual([
      `the document changed, and its version is still ${version}`,
    ]);
    const [major, minor] = version.split('.').map(Number);
    expect(objectionsTo((d) => Object.assign(d.info, { title: 'x', version: `${major}.${minor + 10}.0.0` }))).toEqual(
      [],
    );
    expect(objectionsTo((d) => Object.assign(d.info, { version: '0.99.99.99' }))).toEqual([
      `the version 0.99.99.99 is below the released ${version}`,
    ]);
    expect(objectionsTo((d) => delete d.paths['/health'])[0]).toBe('GET /health is gone');
  });

  it('was released without a list of servers', () => {
    expect(released.servers.map(({ url }: { url: string }) => url)).toEqual(['/']);
  });

  it('has its version at the top of the changelog', () => {
    expect(current.info.version).toBe(API_VERSION);
    expect(/^## (.+)$/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1]).toBe(API_VERSION);
  });
});

describe('a release', () => {
  const directory = mkdtempSync(join(tmpdir(), 'openapi-'));
  const path = join(directory, 'openapi.json');
  let command: ChildScript;
  const run = () => {
    try {
      const options = { encoding: 'utf8', stdio: 'pipe' } as const;
      return { code: 0, text: execFileSync(process.execPath, [command.path, path], options) };
    } catch (error) {
      const { status, stderr } = error as { status: number; stderr: string };
      return { code: status, text: stderr };
    }
  };
  const write = (mutate: (document: Json) => void) => {
    const document = structuredClone(current);
    mutate(document);
    writeFileSync(path, JSON.stringify(document));
  };
  const read = () => JSON.parse(readFileSync(path, 'utf8'));
  beforeAll(async () => {
    command = await bundleChildScript('tests/support/write-document.ts');
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await command.remove();
  });

  it('writes the document where there is none, and where additions have a higher version', () => {
    expect(releaseDocument(path, current)).toEqual([]);
    expect(read()).toEqual(current);
    expect(releaseDocument(path, current)).toEqual([]);
    write((d) => {
      delete d.paths['/health'];
      d.info.version = '1.0.0.0';
    });
    expect(releaseDocument(path, current)).toEqual([]);
    expect(read()).toEqual(current);
  });

  it('refuses breaking changes, and changes under the same version', () => {
    write((d) => {
      d.paths['/v1/gone'] = { get: d.paths['/health'].get };
      d.info.version = '1.0.0.0';
    });
    const before = read();
    expect(releaseDocument(path, current)).toEqual(['GET /v1/gone is gone']);
    expect(read()).toEqual(before);
    write((d) => delete d.paths['/health']);
    expect(releaseDocument(path, current)).toEqual([expect.stringContaining(`its version is still ${API_VERSION}`)]);
  });

  it('takes a breaking change that is accepted for its version, and for no other', () => {
    const items = (d: Json) => d.components.schemas.Threshold.properties.value.anyOf.at(-1);
    write((d) => {
      items(d).items = { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };
      d.info.version = '1.5.0.0';
    });
    const later = structuredClone(current);
    later.info.version = '1.99.0.0';
    expect(releaseDocument(path, later)).toHaveLength(4);
    later.info.version = '1.6.0.0';
    expect(releaseDocument(path, later)).toEqual([]);
  });

  it('has a command, which exits with 1 and names what it refuses', () => {
    rmSync(path);
    expect(run().code).toBe(0);
    expect(read()).toEqual(current);
    write((d) => {
      d.paths['/v1/gone'] = { get: d.paths['/health'].get };
      d.info.version = '1.0.0.0';
    });
    const before = read();
    expect(run()).toEqual({ code: 1, text: expect.stringContaining('- GET /v1/gone is gone\n') });
    expect(read()).toEqual(before);
  });
});
