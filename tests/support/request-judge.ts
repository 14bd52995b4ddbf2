import type { ErrorObject } from 'ajv';
import type { OpenApiDocument, Operation } from './document';
import type { GeneratedRequest } from './request-generator';
import { type Fault, findRuleFaults, type IssuedCursor } from './request-rules';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
type Json = any;

/**
 * The document's judgement of a request. An error must name one of the `faults`. If there are none, the request must
 * not be called invalid.
 */
export interface Judgement {
  /** Null if the document has no such operation. */
  operation: Operation | null;
  faults: Fault[];
  /** The values that were read and have no fault. */
  values: Record<string, unknown>;
}

const MAX_BODY_BYTES = 64 * 1024;
const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;
const NUMBER_FORMS: Record<string, RegExp> = { integer: /^\d+$/, number: /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i };

/** Judges a request by the document alone, in this order: path, query, body. */
export function judgeRequest(
  document: OpenApiDocument,
  request: GeneratedRequest,
  cursors: readonly IssuedCursor[] = [],
): Judgement {
  const at = request.target.indexOf('?');
  const path = at < 0 ? request.target : request.target.slice(0, at);
  const query = at < 0 ? '' : request.target.slice(at + 1);
  const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
  const operation = findOperation(document, method, path);
  if (!operation) return { operation: null, faults: [], values: {} };
  const values: Record<string, unknown> = {};
  const stages = [
    () => judgePath(document, operation, path, values),
    () => judgeQuery(document, operation, query, values, cursors),
    () => judgeBody(document, operation, request, values),
  ];
  for (const judge of stages) {
    const faults = judge();
    if (faults.length > 0) return { operation, faults, values };
  }
  return { operation, faults: [], values };
}

/** Finds the operation of a path as it was sent. A fixed segment wins over a parameter. */
function findOperation(document: OpenApiDocument, method: string, path: string): Operation | null {
  const segments = path.split('/');
  const fits = (template: string) => {
    const parts = template.split('/');
    return (
      parts.length === segments.length &&
      parts.every((part, n) => (part.startsWith('{') ? segments[n] !== '' : part === segments[n]))
    );
  };
  const templates = Object.keys(document.json.paths).filter(fits);
  const [template] = templates.sort((a, b) => a.split('{').length - b.split('{').length);
  return document.listOperations().find((one) => one.path === template && one.method === method) ?? null;
}

const parametersOf = ({ operation }: Operation, place: string): Json[] =>
  (operation.parameters ?? []).filter((parameter: Json) => parameter.in === place);

function judgePath(
  document: OpenApiDocument,
  operation: Operation,
  path: string,
  values: Record<string, unknown>,
): Fault[] {
  const segments = path.split('/');
  const names = operation.path.split('/').map((part) => /^\{(.+)\}$/.exec(part)?.[1]);
  return names.flatMap((name, n) => {
    if (name === undefined) return [];
    const value = decodeOrNull(segments[n]!);
    values[name] = value;
    return isParameterFine(document, operation, name, value) ? [] : [{ code: 'INVALID_REQUEST', field: name }];
  });
}

function judgeQuery(
  document: OpenApiDocument,
  operation: Operation,
  query: string,
  values: Record<string, unknown>,
  cursors: readonly IssuedCursor[],
): Fault[] {
  const known = new Map(parametersOf(operation, 'query').map((parameter) => [parameter.name, parameter]));
  const faulty = new Set<string>();
  const given = new Set<string>();
  for (const pair of query.split('&')) {
    const [encodedName = '', ...rest] = pair.split('=');
    const name = decodeOrNull(encodedName.replaceAll('+', ' '));
    if (name === null || !known.has(name)) continue;
    const text = decodeOrNull(rest.join('=').replaceAll('+', ' '));
    const form = NUMBER_FORMS[known.get(name).schema.type];
    const value = text !== null && form ? (form.test(text) ? Number(text) : null) : text;
    if (given.has(name) || !isParameterFine(document, operation, name, value)) faulty.add(name);
    given.add(name);
    values[name] = value;
  }
  const faults = [...faulty].map((field): Fault => ({ code: 'INVALID_REQUEST', field }));
  return [...faults, ...findRuleFaults(operation, values, faulty, cursors)];
}

/** Whether a parameter's schema accepts its value. Null, which means unreadable, is never accepted. */
function isParameterFine(document: OpenApiDocument, operation: Operation, name: string, value: unknown): boolean {
  if (value === null || hasBadText(value)) return false;
  const index = operation.operation.parameters.findIndex((parameter: Json) => parameter.name === name);
  const { schema } = operation.operation.parameters[index];
  const validate = document.validatorAt(
    'paths',
    operation.path,
    operation.method,
    'parameters',
    String(index),
    'schema',
  );
  return validate(inCase(schema, value));
}

function judgeBody(
  document: OpenApiDocument,
  operation: Operation,
  request: GeneratedRequest,
  values: Record<string, unknown>,
): Fault[] {
  const { requestBody } = operation.operation;
  if (!requestBody) return [];
  const whole: Fault[] = [{ code: 'INVALID_BODY', field: 'body' }];
  const bytes = request.body ?? new Uint8Array();
  if (bytes.length === 0 && !requestBody.required) return [];
  const header = (name: string) => Object.entries(request.headers).find(([other]) => other.toLowerCase() === name)?.[1];
  const isJson =
    JSON_TYPE.test(header('content-type') ?? '') && (header('content-encoding') ?? 'identity') === 'identity';
  if (!isJson || bytes.length > MAX_BODY_BYTES) return whole;
  const body = parseOrUndefined(bytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return whole;
  const { schema } = requestBody.content['application/json'];
  const keys = ['paths', operation.path, operation.method, 'requestBody', 'content', 'application/json', 'schema'];
  const validate = document.validatorAt(...keys);
  validate(inCase(schema, body));
  const faults = (validate.errors ?? []).map(toFault);
  Object.assign(values, body);
  return [
    ...faults,
    ...findTextFaults(schema, body),
    ...findRuleFaults(operation, body as Record<string, unknown>, new Set(), []),
  ];
}

/**
 * Finds the place of the schema's complaint. A URL and an event type have separate codes for everything except a wrong
 * type.
 */
function toFault({ instancePath, keyword, params }: ErrorObject): Fault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') path.push(String(params.missingProperty));
  const field = path.join('.') || 'body';
  if (field === 'url' && keyword === 'maxLength') return { code: 'INVALID_URL', field };
  if (field === 'eventType' && keyword === 'enum') return { code: 'INVALID_EVENT_TYPE', field };
  return { code: 'INVALID_BODY', field };
}

/** U+0000 and lone surrogates, which no text may contain. A schema cannot say that. */
const hasBadText = (value: unknown) => typeof value === 'string' && (value.includes('\0') || !value.isWellFormed());

function findTextFaults(schema: Json, value: unknown, path = ''): Fault[] {
  if (hasBadText(value)) {
    if (path === 'url') return [{ code: 'INVALID_URL', field: path }];
    if (path === 'eventType') return [{ code: 'INVALID_EVENT_TYPE', field: path }];
    return [{ code: 'INVALID_BODY', field: path }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return [schema, ...(schema.anyOf ?? [])].flatMap((choice) => {
    if (Array.isArray(value))
      return choice.items ? value.flatMap((item, n) => findTextFaults(choice.items, item, `${path}.${n}`)) : [];
    return Object.entries<Json>(choice.properties ?? {}).flatMap(([key, property]) =>
      Object.hasOwn(value, key)
        ? findTextFaults(property, (value as Record<string, unknown>)[key], path ? `${path}.${key}` : key)
        : [],
    );
  });
}

/** Words of a list are accepted in any case (decisions). Here they get the case of the list. */
function inCase(schema: Json, value: unknown): unknown {
  if (schema.anyOf) return schema.anyOf.reduce((changed: unknown, choice: Json) => inCase(choice, changed), value);
  if (typeof value === 'string')
    return (
      schema.enum?.find((word: unknown) => typeof word === 'string' && word.toLowerCase() === value.toLowerCase()) ??
      value
    );
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const property = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties[key] : null;
      return [key, property ? inCase(property, item) : item];
    }),
  );
}

function parseOrUndefined(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function decodeOrNull(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}
