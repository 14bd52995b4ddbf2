import { createHash } from 'node:crypto';
import { generateOpenApiDocument, type OpenAPIObject } from 'trpc-to-openapi';
import { ERROR_CODES, type ErrorCode } from '../../contract/errors';
import { API_VERSION } from '../../contract/version';
import type { Env } from '../platform/env';
import { appRouter } from '../procedures/router';
import { ERROR_SCHEMAS, IDEMPOTENCY_PARAMETER, makeErrorExample, RESPONSE_HEADERS, TAGS } from './document-components';
import { buildExample } from './document-examples';
import { describeExports, describeFile } from './document-exports';
import { writeCodeSamples } from './document-samples';
import { type JsonSchema, SchemaNames, simplifySchema } from './document-schemas';
import { describeWebhooks } from './document-webhooks';
import type { RestResponse } from './responses';
import { ROUTES, type Route } from './routes';

type Operation = {
  operationId: string;
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: JsonContent };
  responses: Record<string, Response>;
  'x-codeSamples'?: object[];
};
type JsonContent = Record<string, { schema: JsonSchema; example?: unknown; examples?: unknown }>;
type Parameter = { name?: string; in?: string; description?: string; schema: JsonSchema & { description?: string } };
type Response = {
  description: string;
  headers?: unknown;
  content?: JsonContent;
};

const DESCRIPTION = `Scored browsing sessions of an AI-agent and bot detection platform, and webhooks about them.

Every route under \`/v1\` needs an API key (\`aik_v1_…\`), as \`Authorization: Bearer <key>\` or as \`x-api-key: <key>\`; the key
names the integration. Bearer keys have a rate limit each; requests with \`x-api-key\` share one bucket per tier. Times are
ISO 8601, scores and confidences are 0 to 1. Bodies are JSON in UTF-8; one byte order mark before them is ignored. On 429
wait \`Retry-After\` seconds; on 5xx retry with backoff and jitter.`;

/** Codes that every authenticated operation can return. */
const UNIVERSAL_CODES: ErrorCode[] = [
  'MISSING_API_KEY',
  'INVALID_API_KEY',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];

type DocumentEnv = Pick<Env, 'REGION' | 'PUBLIC_URL_US' | 'PUBLIC_URL_EU'>;

/** Generates the OpenAPI document of the public procedures (specification: Versioning 4). */
export function generateDocument(env: DocumentEnv): OpenAPIObject {
  const document = generateOpenApiDocument(appRouter, {
    title: 'Bot Detection API',
    version: API_VERSION,
    description: DESCRIPTION,
    openApiVersion: '3.1.0',
    baseUrl: '/',
    securitySchemes: {
      bearer_auth: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'aik_v1_*',
        description: 'An API key; it has a rate limit of its own.',
      },
      api_key: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description: 'An API key; it shares its tier’s bucket.',
      },
    },
  });
  document.info.license = { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' };
  document.servers = listServers(env);
  document.tags = TAGS;
  const generated = Object.entries(document.components?.schemas ?? {}).filter(([name]) => !name.startsWith('error.'));
  const names = new SchemaNames({ ...Object.fromEntries(generated), ...ERROR_SCHEMAS } as Record<string, JsonSchema>);
  const paths = document.paths as Record<string, Record<string, object>>;
  Object.assign(paths, describeExports(paths));
  for (const route of ROUTES) {
    const operation = paths[route.template]?.[route.method.toLowerCase()] as Operation;
    for (const parameter of operation.parameters ?? []) finishParameter(parameter);
    if (route.method === 'POST') operation.parameters = [...(operation.parameters ?? []), IDEMPOTENCY_PARAMETER];
    if (route.body && operation.requestBody) operation.requestBody.required = !route.body.isOptional;
    describeResponses(route, operation, names);
    finishContent(operation, 'Request', operation.requestBody?.content, names);
    finishContent(operation, 'Response', operation.responses['200']?.content, names);
    operation['x-codeSamples'] = describeCalls(route, operation);
  }
  document.webhooks = describeWebhooks(names) as OpenAPIObject['webhooks'];
  const { schemas } = names;
  document.components = { ...document.components, schemas: schemas as never, headers: RESPONSE_HEADERS as never };
  return document;
}

function listServers(env: DocumentEnv): { url: string; description: string }[] {
  const regional = [
    { region: 'us', url: env.PUBLIC_URL_US, description: 'United States' },
    { region: 'eu', url: env.PUBLIC_URL_EU, description: 'European Union' },
  ];
  // Clients take the first server, and a key is valid in its own region only.
  const sorted = regional.sort((a, b) => Number(b.region === env.REGION) - Number(a.region === env.REGION));
  const servers = sorted.flatMap(({ url, description }) => (url === undefined ? [] : [{ url, description }]));
  return servers.length > 0 ? servers : [{ url: '/', description: 'This server' }];
}

/** Moves a parameter's description next to its name, because tools that read the document do not look in the schema. */
function finishParameter(parameter: Parameter) {
  const { description, ...schema } = parameter.schema;
  parameter.schema = simplifySchema(schema);
  if (description !== undefined) parameter.description = description;
}

/** Gives the schema of a body a name, and the body an example. */
function finishContent(
  { operationId }: Operation,
  suffix: string,
  content: JsonContent | undefined,
  names: SchemaNames,
) {
  const json = content?.['application/json'];
  if (!json) return;
  const name = operationId.charAt(0).toUpperCase() + operationId.slice(1) + suffix;
  json.schema = names.add(name, json.schema);
  json.example = buildExample(json.schema, names.schemas);
}

/** Writes the operation's call with the examples of its parameters and its body. */
function describeCalls(route: Route, { operationId, parameters = [], requestBody, responses }: Operation) {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const body = requestBody?.content['application/json']?.example;
  return writeCodeSamples({
    ...{ operationId, method: route.method, template: route.template },
    needsKey: isAuthenticated(route),
    pathExamples: inPath.map(({ schema }) => schema.example as string),
    body: body as Record<string, unknown> | undefined,
    answer: '204' in responses ? 'none' : route.query.has('cursor') || route.formats ? 'list' : 'one',
  });
}

const isAuthenticated = ({ meta }: Route) => meta.openapi?.protect !== false;

/** Sent with every response to a valid key. */
const IDENTITY_HEADERS = ['x-service-tier', 'RateLimit', 'RateLimit-Policy', 'x-request-id'];
const ERROR_HEADERS: Record<number, string[]> = {
  401: ['WWW-Authenticate', 'x-request-id'],
  429: [...IDENTITY_HEADERS, 'Retry-After'],
  // Without the headers that need the key, because the key's look-up itself may have failed.
  500: ['x-request-id'],
  503: ['x-request-id'],
};

function describeResponses(route: Route, operation: Operation, { schemas }: SchemaNames) {
  const { content } = operation.responses['200']!;
  if (!isAuthenticated(route)) {
    operation.security = [];
    // Never the error envelope (specification: Errors).
    operation.responses = {
      200: { description: 'Success', headers: headerRefs(['x-request-id']), content } as Response,
    };
    return;
  }
  const headers = headerRefs([...IDENTITY_HEADERS, ...(route.method === 'POST' ? ['Idempotent-Replayed'] : [])]);
  const schema = content?.['application/json']?.schema;
  operation.responses =
    schema && Object.keys(schema).length > 0
      ? {
          200: {
            description: 'Success',
            headers,
            content: route.formats
              ? describeFile(route.formats, buildExample(schema.properties!.data!.items!, schemas))
              : { 'application/json': { schema: wrapInEnvelope(schema) } },
          },
        }
      : { 204: { description: 'Done', headers } };
  for (const [status, codes] of groupByStatus(listCodes(route))) {
    operation.responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${describeCode(code, route)}`).join('\n\n'),
      headers: headerRefs(ERROR_HEADERS[status] ?? IDENTITY_HEADERS),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(codes.map((code) => [code, { value: makeErrorExample(code) }])),
        },
      },
    };
  }
}

const describeCode = (code: ErrorCode, { scope }: Route) =>
  code === 'FORBIDDEN' ? `The key does not have the scope \`${scope}\`.` : ERROR_CODES[code].description;

/** A page already has an envelope. */
const wrapInEnvelope = (schema: JsonSchema) =>
  schema.properties?.pagination
    ? schema
    : { type: 'object', properties: { data: schema }, required: ['data'], additionalProperties: true };

/** Lists all codes that an operation can return. Some depend on its parameters and body. */
function listCodes(route: Route): ErrorCode[] {
  const codes = new Set([...UNIVERSAL_CODES, ...(route.meta.errors ?? [])]);
  if (route.query.size > 0 || route.pathParameters.size > 0 || route.method === 'POST') codes.add('INVALID_REQUEST');
  if (route.body) codes.add('INVALID_BODY');
  return [...codes];
}

function groupByStatus(codes: ErrorCode[]): [number, ErrorCode[]][] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes)
    byStatus.set(ERROR_CODES[code].status, [...(byStatus.get(ERROR_CODES[code].status) ?? []), code]);
  return [...byStatus].sort(([a], [b]) => a - b);
}

const headerRefs = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const built = new WeakMap<Env, RestResponse>();

/** Returns the response for `/openapi/v3.json`. It is built once per settings and readable from any origin. */
export function readDocument(env: Env): RestResponse {
  let response = built.get(env);
  if (!response) {
    const body = JSON.stringify(generateDocument(env));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
    response = {
      status: 200,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=300',
        'access-control-allow-origin': '*',
        etag,
      },
      body,
    };
    built.set(env, response);
  }
  return { ...response, headers: { ...response.headers } };
}
