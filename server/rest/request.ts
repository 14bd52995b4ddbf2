import { ApiError } from '../../contract/errors';
import { isJsonType } from './media-type';
import type { BodyShape, QueryKind, Route } from './routes';

/** A request, independent of the server that received it. */
export interface RestRequest {
  method: string;
  /** Path and query as the client sent them, still encoded. */
  target: string;
  /** Reads one header by its lower-case name. Returns null if it is absent. */
  header(name: string): string | null;
  /** Reads the body. Returns null if it is longer than MAX_BODY_BYTES. */
  readBody(): Promise<Uint8Array | null>;
}

export const MAX_BODY_BYTES = 64 * 1024;
/** A too long body is still read up to here, so that the client sees the answer. If it is longer, the connection closes. */
export const MAX_DRAINED_BYTES = 1024 * 1024;

/**
 * Collects a body of at most `maxBytes`. Returns null if it is longer, or if the client has disconnected. A longer body is
 * read up to MAX_DRAINED_BYTES, so that the client has sent all of it when the answer arrives.
 */
export async function collectBody(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array | null> {
  const kept: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length <= maxBytes) kept.push(chunk);
      if (length > Math.max(maxBytes, MAX_DRAINED_BYTES)) return null;
    }
  } catch {
    return null;
  }
  return length <= maxBytes ? Buffer.concat(kept, length) : null;
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Splits a request's target at its first question mark. Drops scheme and host of the absolute form, which proxies send. */
export function splitTarget(target: string): { path: string; query: string } {
  const origin = target.startsWith('/') ? '' : (ABSOLUTE_FORM.exec(target)?.[0] ?? '');
  const relative = target.slice(origin.length);
  const at = relative.indexOf('?');
  return at < 0 ? { path: relative, query: '' } : { path: relative.slice(0, at), query: relative.slice(at + 1) };
}

const invalidRequest = (field: string, message: string) =>
  new ApiError('INVALID_REQUEST', `${field} ${message}`, { field });

/** Percent-decodes each path parameter exactly once and validates it. */
export function readPathParameters(route: Route, parameters: [name: string, encoded: string][]): [string, string][] {
  return parameters.map(([name, encoded]) => {
    const value = decodeOrNull(encoded);
    if (value === null) throw invalidRequest(name, 'is not percent-encoded UTF-8');
    const fault = route.pathParameters.get(name)?.safeParse(value).error?.issues[0];
    if (fault) throw invalidRequest(name, fault.message);
    return [name, value];
  });
}

const NUMBER_FORMS: Record<Exclude<QueryKind, 'string'>, { pattern: RegExp; message: string }> = {
  integer: { pattern: /^\d+$/, message: 'must be a whole number' },
  // As JSON writes numbers: Go and Java send small ones with an exponent.
  decimal: { pattern: /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i, message: 'must be a decimal number' },
};

/** Reads the query parameters that the route knows, and ignores others. */
export function readQuery(route: Route, query: string): [string, string | number][] {
  const values = new Map<string, string | number>();
  for (const pair of query === '' ? [] : query.split('&')) {
    const at = pair.indexOf('=');
    const name = decodeOrNull((at < 0 ? pair : pair.slice(0, at)).replaceAll('+', ' '));
    const kind = name === null ? undefined : route.query.get(name);
    if (name === null || kind === undefined) continue;
    if (values.has(name)) throw invalidRequest(name, 'must be given once');
    const text = at < 0 ? '' : decodeOrNull(pair.slice(at + 1).replaceAll('+', ' '));
    if (text === null) throw invalidRequest(name, 'is not percent-encoded UTF-8');
    if (kind !== 'string' && !NUMBER_FORMS[kind].pattern.test(text))
      throw invalidRequest(name, NUMBER_FORMS[kind].message);
    values.set(name, kind === 'string' ? text : Number(text));
  }
  return [...values];
}

/** Reads the fields of a JSON body that the route knows, and ignores others. Values are never coerced. */
export async function readJsonBody(shape: BodyShape, request: RestRequest): Promise<[string, unknown][]> {
  const refuse = (message: string) => new ApiError('INVALID_BODY', message, { field: 'body' });
  // Always read the body. If it stayed unread, the connection would close while the client sends.
  const bytes = await request.readBody();
  if (bytes === null) throw refuse(`body is longer than ${MAX_BODY_BYTES} bytes`);
  if (bytes.length === 0 && shape.isOptional) return [];
  if (!isJson(request)) throw refuse('body must be sent as application/json in UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refuse('body is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse('body must be a JSON object');
  const body = value as Record<string, unknown>;
  return shape.fields.filter((field) => Object.hasOwn(body, field)).map((field) => [field, body[field]]);
}

function isJson(request: RestRequest): boolean {
  const encoding = request.header('content-encoding');
  const isPlain = encoding === null || encoding.toLowerCase() === 'identity';
  return isPlain && isJsonType(request.header('content-type'));
}

/** Percent-decodes once. Returns null if an escape is invalid. */
export function decodeOrNull(encoded: string): string | null {
  if (!encoded.includes('%')) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

/** Decodes an id in a path. Null if nothing can have it: Postgres stores no NUL. */
export function decodeId(encoded: string): string | null {
  const id = decodeOrNull(encoded);
  return id?.includes('\0') ? null : id;
}
