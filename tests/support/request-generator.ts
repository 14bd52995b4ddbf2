import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Operation } from './document';
import { hostileText, mutatedText } from './json-text';
import { type KnownValues, listNearMisses, nearMissesOf, valuesOf } from './schema-values';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
type Json = any;

/** A request as it goes over the wire. */
export interface GeneratedRequest {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: Uint8Array | null;
  /** Whether the body is sent in chunks, without its length. */
  isChunked: boolean;
}

/**
 * Generates requests to an operation of the document: about half of them valid, the others wrong in one or more ways.
 */
export function requestsOf({ method, path, operation }: Operation, known: KnownValues): fc.Arbitrary<GeneratedRequest> {
  const parameters: Json[] = operation.parameters ?? [];
  const placed = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const bodySchema = operation.requestBody?.content['application/json'].schema;
  return fc
    .record({
      method: fc.constantFrom(...(method === 'get' ? ['GET', 'GET', 'GET', 'HEAD'] : [method.toUpperCase()])),
      path: pathsOf(path, placed('path'), known),
      query: queriesOf(placed('query'), known),
      content: bodySchema ? contentsOf(bodySchema, known) : strayContents,
      noise: noiseHeaders,
      isChunked: fc.boolean(),
    })
    .map(({ path: target, query, content: { headers, body }, noise, isChunked, ...rest }) => ({
      ...rest,
      target: query === null ? target : `${target}?${query}`,
      headers: { ...noise, ...headers },
      body,
      isChunked: isChunked && body !== null,
      [fc.toStringMethod]: showRequest,
    }));
}

/** Generates POST requests to a target with bodies by a schema. */
export const postsOf = (target: string, schema: Json, known: KnownValues): fc.Arbitrary<GeneratedRequest> =>
  contentsOf(schema, known).map((content) => ({
    method: 'POST',
    target,
    ...content,
    isChunked: false,
    [fc.toStringMethod]: showRequest,
  }));

const SHOWN_LENGTH = 600;

/** Shows a request when a test fails, with its body as text. */
function showRequest(this: GeneratedRequest): string {
  const { method, target, headers, body, isChunked } = this;
  const text = Buffer.from(body ?? '').toString('latin1');
  const shown = text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}… (${text.length} bytes)` : text;
  return `${method} ${target}\n${JSON.stringify(headers)}${isChunked ? ' in chunks' : ''}\n${shown}`;
}

/** Functions that percent-encode a text in different ways with the same meaning. */
const encodings: ((text: string) => string)[] = [
  (text) => encodeURIComponent(text),
  (text) =>
    encodeURIComponent(text)
      .replaceAll('%20', '+')
      .replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
  (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&'),
];

const BAD_SEGMENTS = [
  '%',
  '%zz',
  '%2',
  '%ff',
  '%c0%af',
  '%ED%A0%80',
  '%00',
  'a%00b',
  '.',
  '..',
  '%2e%2e',
  '%2F',
  'a%2Fb',
  '%5C',
  '%2525',
  '%F0%9F%98%80',
  'a+b',
  'a;b=1',
  '*',
  '',
  '/',
  '%20',
  '__proto__',
  'constructor',
  'null',
  "'%20or%20'1'='1",
  'x'.repeat(256),
  'x'.repeat(257),
  'x'.repeat(10_000),
  '%F0%9F%98%80'.repeat(256),
  '%C3%A4'.repeat(257),
];

function pathsOf(template: string, parameters: Json[], known: KnownValues): fc.Arbitrary<string> {
  const segments = template.split('/').map((segment) => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    if (name === undefined) return fc.constant(segment);
    const { schema } = parameters.find((parameter) => parameter.name === name);
    // In a path, a plus is a plus.
    const valid = fc.tuple(valuesOf(schema, known, name), fc.constantFrom(encodings[0]!, encodings[2]!));
    return fc.oneof(
      { weight: 8, arbitrary: valid.map(([value, encode]) => encode(String(value))) },
      { weight: 1, arbitrary: fc.constantFrom(...BAD_SEGMENTS) },
    );
  });
  return fc.tuple(...segments).map((all) => all.join('/'));
}

const BAD_VALUES = [
  '',
  '%',
  '%zz',
  '%ff',
  '%00',
  'a%00',
  '%ED%A0%80',
  '+',
  '%2B',
  '+10',
  '%2B10',
  '10+',
  '-1',
  '0',
  '1',
  '100',
  '101',
  '007',
  '1.0',
  '1e1',
  '0x10',
  '.5',
  '1.',
  '1.5',
  '0.5',
  '1.0000000000000001',
  '1.0001',
  '9'.repeat(400),
  `0.${'0'.repeat(400)}1`,
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  '[]',
  '%7B%7D',
  'x'.repeat(2_048),
  'x'.repeat(2_049),
  '%F0%9F%98%80'.repeat(257),
  '2026-02-30',
  '2026-13-01',
  '0000-01-01',
  '0001-01-01',
  '9999-12-31',
  '9998-12-31',
  '2026-01-01T00:00:00',
  '2026-01-01T00:00:00+00:00',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01t00:00:00z',
  '2026-01-01T00:00Z',
  '%D9%A1%D9%A0',
  "'",
  '=',
  'a=b=c',
  '__proto__',
  'constructor',
  'BOT',
  'sCoReD',
  'dES%E2%84%AATOP',
];

const BAD_PAIRS = [
  '',
  '=',
  '&',
  '&&',
  '%zz=1',
  '%=',
  '__proto__=1',
  'constructor=1',
  'x',
  'x=%zz',
  '?',
  'cursor',
  'page%53ize=0',
  'pageSize[]=1',
  'pageSize%00=1',
  'PAGESIZE=0',
];

/**
 * Generates a query, or null for none. It has some of the operation's parameters; one of them may be invalid or
 * repeated.
 */
function queriesOf(parameters: Json[], known: KnownValues): fc.Arbitrary<string | null> {
  const stray = fc.oneof(
    { weight: 6, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...BAD_PAIRS), { maxLength: 3 }) },
  );
  if (parameters.length === 0) return stray.map((pairs) => (pairs.length === 0 ? null : pairs.join('&')));
  const pairOf = ({ name, schema }: Json): fc.Arbitrary<string> => {
    const valid = fc.tuple(valuesOf(schema, known, name), fc.constantFrom(...encodings));
    const misses = listNearMisses(schema).map(({ value }) => encodeURIComponent(String(value)));
    return fc.oneof(
      { weight: 10, arbitrary: valid.map(([value, encode]) => `${name}=${encode(String(value))}`) },
      { weight: 2, arbitrary: fc.constantFrom(...BAD_VALUES, ...misses).map((value) => `${name}=${value}`) },
    );
  };
  return fc
    .tuple(fc.array(fc.constantFrom(...parameters).chain(pairOf), { maxLength: 4 }), fc.nat(9), stray)
    .map(([pairs, repeats, strays]) => {
      // Each parameter once, except in every tenth query.
      const names = pairs.map((pair) => pair.split('=')[0]);
      const given = repeats === 0 ? pairs : pairs.filter((_, index) => names.indexOf(names[index]) === index);
      return [...given, ...strays].join('&');
    });
}

interface Content {
  headers: Record<string, string>;
  body: Uint8Array | null;
}

const JSON_TYPES = ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'];
const OTHER_TYPES = [
  'text/plain',
  '',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'application/json, text/plain',
  'multipart/form-data; boundary=x',
  'json',
  'application/jsonx',
  '*/*',
  'application/json; x=y',
];
const KIB = 1024;

const BAD_TEXTS = [
  '',
  ' ',
  'null',
  '[]',
  '[{}]',
  '1',
  '"x"',
  'NaN',
  '{',
  '{}',
  "{'a':1}",
  '{"a":1,}',
  '{"a"}',
  '{/**/}',
  '[1',
  '{"verdict":bot}',
  '["\\ud800"]',
  '\u0000',
  '['.repeat(60_000),
];

/** Generates bodies by a schema: first as text, then as bytes, then with their HTTP headers. */
function contentsOf(schema: Json, known: KnownValues): fc.Arbitrary<Content> {
  const values = valuesOf(schema, known);
  const text = fc.oneof(
    { weight: 5, arbitrary: mutatedText(values, 0, 0) },
    { weight: 3, arbitrary: mutatedText(nearMissesOf(schema, known), 0, 0) },
    { weight: 4, arbitrary: mutatedText(values, 1, 1) },
    { weight: 2, arbitrary: mutatedText(values, 2, 4) },
    { weight: 1, arbitrary: fc.oneof(fc.constantFrom(...BAD_TEXTS), hostileText) },
  );
  const spoilt = fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: spoiling });
  const headers = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...JSON_TYPES).map((type) => ({ 'Content-Type': type })) },
    { weight: 1, arbitrary: fc.constantFrom(...OTHER_TYPES).map((type) => ({ 'Content-Type': type })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        {},
        { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
        { 'Content-Type': 'application/json', 'Content-Encoding': 'identity' },
      ),
    },
  );
  return fc.tuple(text, spoilt, headers).map(([json, spoil, head]) => {
    const bytes = Buffer.from(json);
    return { headers: { ...head }, body: spoil ? spoil(bytes) : bytes };
  });
}

/** Functions that make a body's bytes invalid. */
const spoiling: fc.Arbitrary<(bytes: Buffer) => Uint8Array | null> = fc.oneof(
  fc.constant(() => null),
  fc.nat(200).map((at) => (bytes: Buffer) => bytes.subarray(0, Math.max(0, bytes.length - 1 - at))),
  fc.tuple(fc.nat(200), fc.constantFrom(0xff, 0x80, 0xc3, 0xed, 0x00, 0x0a)).map(([at, byte]) => (bytes: Buffer) => {
    const place = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, place), Buffer.of(byte), bytes.subarray(place)]);
  }),
  fc
    .constantFrom('\ufeff', ' \n\t\r', '//', ")]}',\n")
    .map((prefix) => (bytes: Buffer) => Buffer.concat([Buffer.from(prefix), bytes])),
  fc
    .constantFrom('}', '\0', ' x', '{}')
    .map((suffix) => (bytes: Buffer) => Buffer.concat([bytes, Buffer.from(suffix)])),
  fc
    .constantFrom(64 * KIB, 64 * KIB + 1, 1024 * KIB)
    .map((size) => (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(Math.max(0, size - bytes.length), ' ')])),
  fc.constant((bytes: Buffer) => gzipSync(bytes)),
  fc.constant((bytes: Buffer) => Buffer.from(bytes.toString(), 'utf16le')),
);

/** What a request carries to an operation that takes no body. */
const strayContents: fc.Arbitrary<Content> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ headers: {}, body: null }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...BAD_TEXTS), fc.constantFrom(...JSON_TYPES, ...OTHER_TYPES))
      .map(([text, type]) => ({ headers: { 'Content-Type': type }, body: Buffer.from(text) })),
  },
);

const long = 'x'.repeat(4_000);
const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`X-${n}`, String(n)]));

/** Headers that change nothing. */
export const noiseHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      { Accept: 'text/html' },
      { Accept: '*/*;q=0, ;;;' },
      { Accept: long },
      { 'Accept-Encoding': 'gzip, br' },
      { 'Accept-Language': '\xff\xfe' },
      { Expect: '100-continue' },
      { Expect: 'a miracle' },
      { 'If-None-Match': '*' },
      { 'If-Modified-Since': 'yesterday' },
      { Range: 'bytes=0-0' },
      { Origin: 'null' },
      { Cookie: long },
      { 'X-HTTP-Method-Override': 'DELETE' },
      { 'X-Forwarded-For': '127.0.0.1', 'X-Forwarded-Host': 'evil.example' },
      { 'X-Request-Id': '\\u0000' },
      { Host: '' },
      { Host: 'evil.example:99999' },
      { Connection: 'Upgrade', Upgrade: 'websocket' },
      { Connection: 'close, x-api-key' },
      { Upgrade: 'h2c' },
      { 'Content-Language': long },
      many,
    ),
  },
);
