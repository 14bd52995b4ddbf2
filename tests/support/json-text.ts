import fc from 'fast-check';

/** JSON as text, so that it can contain what no value can: a repeated key, `1e400`, half an escape. */
type JsonNode = { raw: string } | { items: JsonNode[] } | { entries: [key: string, node: JsonNode][] };

/** One change to a JSON text. `at` is the index of the place, modulo the number of places. */
interface Mutation {
  kind: 'replace' | 'remove' | 'wrap' | 'add' | 'repeat';
  at: number;
  key: string;
  raw: string;
}

const nested = (open: string, depth: number, close: string) => open.repeat(depth) + close.repeat(depth);

/** Values that a field rarely expects, as JSON text. */
const HOSTILE_VALUES = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1',
  '5',
  '50.5',
  '100',
  '101',
  '1e2',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  '123456789012345678901234567890',
  '""',
  '" "',
  '"0"',
  '"50"',
  '"true"',
  '"null"',
  '"NaN"',
  '"Infinity"',
  '"1e5"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"x\\ud83d"',
  '"\\ud83d\\ude00"',
  '"\\ufeff"',
  '"\\u2028"',
  '"__proto__"',
  '"constructor"',
  '"2026-02-30T00:00:00Z"',
  '"0000-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59Z"',
  '"2026-01-01T00:00:00+23:59"',
  '"2026-01-01"',
  '"\'; drop table sessions; --"',
  '"http://169.254.169.254/"',
  '"http://localhost/"',
  '"."',
  '".."',
  JSON.stringify('x'.repeat(100)),
  JSON.stringify('x'.repeat(101)),
  JSON.stringify('😀'.repeat(100)),
  JSON.stringify('😀'.repeat(257)),
  JSON.stringify('x'.repeat(1_001)),
  JSON.stringify('x'.repeat(20_000)),
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '[1]',
  '["a",1,true]',
  '["\\ud800"]',
  '[{"a":1}]',
  `[${Array.from({ length: 101 }, () => '1').join()}]`,
  '{"length":1,"0":"x"}',
  '{"__proto__":{"enabled":true}}',
  '{"constructor":{"prototype":{"enabled":true}}}',
  '{"toString":1,"valueOf":null}',
  '{"\\u0000":1}',
  '{"\\ud800":1}',
  nested('[', 20, ']'),
  nested('[', 5_000, ']'),
  `${'{"a":'.repeat(17)}1${'}'.repeat(17)}`,
  `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
];

const HOSTILE_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  '',
  '\0',
  'id',
  'integrationId',
  'data',
];

/** JSON texts that no schema expects: a hostile value, or any value. */
export const hostileText = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...HOSTILE_VALUES) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
);

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'wrap', 'add', 'repeat'),
  at: fc.nat(60),
  key: fc.oneof(fc.constantFrom(...HOSTILE_KEYS), fc.string()),
  raw: hostileText,
});

/** JSON texts of the values of an arbitrary, each changed in `min` to `max` places. */
export const mutatedText = (values: fc.Arbitrary<unknown>, min: number, max: number): fc.Arbitrary<string> =>
  fc
    .tuple(values, fc.array(mutation, { minLength: min, maxLength: max }))
    .map(([value, mutations]) => writeNode(mutations.reduce(mutate, readNode(value))));

function readNode(value: unknown): JsonNode {
  if (Array.isArray(value)) return { items: value.map(readNode) };
  if (typeof value !== 'object' || value === null) return { raw: JSON.stringify(value) };
  return { entries: Object.entries(value).map(([key, item]) => [key, readNode(item)]) };
}

function writeNode(node: JsonNode): string {
  if ('raw' in node) return node.raw;
  if ('items' in node) return `[${node.items.map(writeNode).join()}]`;
  return `{${node.entries.map(([key, item]) => `${JSON.stringify(key)}:${writeNode(item)}`).join()}}`;
}

/** A place in a text: the list or object that contains it, and the index there. */
interface Place {
  parent: JsonNode;
  index: number;
}

function mutate(root: JsonNode, { kind, at, key, raw }: Mutation): JsonNode {
  const holder: JsonNode = { items: [structuredClone(root)] };
  const places = listPlaces(holder);
  const { parent, index } = places[at % places.length]!;
  const node = readPlace(parent, index);
  if (kind === 'replace') writePlace(parent, index, { raw });
  if (kind === 'wrap') writePlace(parent, index, { items: [node] });
  if (kind === 'remove' && parent !== holder) ('items' in parent ? parent.items : entriesOf(parent)).splice(index, 1);
  if (kind === 'add' && 'entries' in node) node.entries.push([key, { raw }]);
  if (kind === 'add' && 'items' in node) node.items.push({ raw });
  if (kind === 'repeat' && 'entries' in parent) parent.entries.push([parent.entries[index]![0], { raw }]);
  return holder.items[0]!;
}

function listPlaces(parent: JsonNode): Place[] {
  const count = 'items' in parent ? parent.items.length : 'entries' in parent ? parent.entries.length : 0;
  return Array.from({ length: count }, (_, index) => index).flatMap((index) => [
    { parent, index },
    ...listPlaces(readPlace(parent, index)),
  ]);
}

const entriesOf = (node: JsonNode) => ('entries' in node ? node.entries : []);
const readPlace = (parent: JsonNode, index: number): JsonNode =>
  'items' in parent ? parent.items[index]! : entriesOf(parent)[index]![1];

function writePlace(parent: JsonNode, index: number, node: JsonNode) {
  if ('items' in parent) parent.items[index] = node;
  else entriesOf(parent)[index]![1] = node;
}
