import fc from 'fast-check';
import { character } from './texts';

// biome-ignore lint/suspicious/noExplicitAny: a schema is walked freely
type Schema = any;

/** Values that exist, by the name of the field that takes them. Without them a run would get only 404. */
export type KnownValues = Record<string, readonly unknown[]>;

/**
 * Generates values that a JSON Schema accepts, with its limits and difficult spellings more often than others. Throws
 * for an unknown schema.
 */
export function valuesOf(schema: Schema, known: KnownValues, name = ''): fc.Arbitrary<unknown> {
  const own = DATES.includes(name) ? fc.oneof(days, instants, stringsOf(schema)) : ownValuesOf(schema, known, name);
  const existing = Object.hasOwn(known, name) ? known[name]! : [];
  if (existing.length === 0) return own;
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...existing) }, { weight: 1, arbitrary: own });
}

/** Dates that the document describes as plain text, because both forms are fine and clients know only one format. */
const DATES = ['startDate', 'endDate'];

function ownValuesOf(schema: Schema, known: KnownValues, name: string): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices)
    return fc.oneof(...choices.map((choice: Schema) => valuesOf({ ...restOf(schema), ...choice }, known, name)));
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => valuesOf({ ...schema, type }, known, name)));
  switch (schema.type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return numbersOf(schema);
    case 'string':
      return stringsOf(schema);
    case 'array':
      return fc.array(valuesOf(schema.items, known, name), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, 5),
      });
    case 'object':
      return objectsOf(schema, known);
    case undefined:
      return fc.jsonValue({ maxDepth: 3 });
  }
  throw new Error(`no values for ${JSON.stringify(schema)}`);
}

/** A choice inherits the `type` next to it, but not the descriptions. */
const restOf = ({ type }: Schema) => (type === undefined ? {} : { type });

function objectsOf(schema: Schema, known: KnownValues): fc.Arbitrary<unknown> {
  const properties = Object.entries<Schema>(schema.properties ?? {});
  if (properties.length === 0 && schema.additionalProperties)
    return fc.dictionary(fc.string(), valuesOf(schema.additionalProperties, known), { maxKeys: 4 });
  return fc.record(Object.fromEntries(properties.map(([key, property]) => [key, valuesOf(property, known, key)])), {
    requiredKeys: schema.required ?? [],
  });
}

function numbersOf({ type, minimum, maximum }: Schema): fc.Arbitrary<number> {
  const min = minimum ?? -1e15;
  const max = maximum ?? 1e15;
  const limits = fc.constantFrom(min, max, Math.min(max, min + 1));
  if (type === 'integer') return fc.oneof(limits, fc.integer({ min, max: Math.min(max, 2 ** 31 - 1) }));
  return fc.oneof(
    limits,
    fc.double({ min, max, noNaN: true }),
    fc.integer({ min: 0, max: 100 }).map((n) => min + ((max - min) * n) / 100),
  );
}

const HARD_TEXTS = [
  '0',
  ' ',
  'null',
  '__proto__',
  '../..',
  '%2F',
  'a b',
  'ä/ö?#&=+;',
  "' or 1=1 --",
  '\\',
  '"',
  '\u202e',
  '日本',
  '😀',
];

function stringsOf({ format, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (format === 'date') return days;
  if (format === 'date-time') return instants;
  const size = { minLength, maxLength: Math.min(maxLength, 60) };
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...HARD_TEXTS) },
    { weight: 3, arbitrary: fc.string({ ...size, unit: 'grapheme-ascii' }) },
    { weight: 2, arbitrary: fc.string({ ...size, unit: character }) },
    // Counted in code points, both are as long as allowed.
    { weight: 1, arbitrary: fc.constantFrom('x'.repeat(maxLength), '😀'.repeat(Math.min(maxLength, 300))) },
    { weight: 1, arbitrary: fc.constantFrom('x'.repeat(minLength), 'ä'.repeat(Math.max(1, minLength))) },
  );
}

/** A value that a schema just refuses, at a place within the schema. */
export interface NearMiss {
  path: string[];
  value: unknown;
}

/**
 * Lists values one step beyond the limits of a schema, at each of its places: a character more, an item less, another
 * word.
 */
export function listNearMisses(schema: Schema): NearMiss[] {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const here = (...values: unknown[]): NearMiss[] => values.map((value) => ({ path: [], value }));
  const within = (name: string, child: Schema) =>
    listNearMisses(child).map(({ path, value }) => ({ path: [name, ...path], value }));
  const choices: Schema[] = schema.anyOf ?? schema.oneOf ?? [];
  return [
    ...choices.flatMap(listNearMisses),
    ...Object.entries<Schema>(schema.properties ?? {}).flatMap(([name, property]) => within(name, property)),
    ...(schema.items ? within('0', schema.items) : []),
    ...(schema.enum ? here('other', '', `${schema.enum[0]} `) : []),
    ...(minimum === undefined ? [] : here(minimum - 1, minimum - 0.001)),
    ...(maximum === undefined ? [] : here(maximum + 1, maximum + 0.001)),
    ...(type === 'integer' ? here((minimum ?? 0) + 0.5) : []),
    ...(minLength > 0 ? here('') : []),
    ...(maxLength === undefined ? [] : here('x'.repeat(maxLength + 1), '😀'.repeat(Math.min(maxLength + 1, 1_001)))),
    ...(minItems > 0 ? here([]) : []),
    ...(maxItems === undefined ? [] : here(Array.from({ length: maxItems + 1 }, () => 1))),
  ];
}

/** Generates values of a schema, each with one near miss in it. */
export function nearMissesOf(schema: Schema, known: KnownValues): fc.Arbitrary<unknown> {
  const misses = listNearMisses(schema);
  if (misses.length === 0) return valuesOf(schema, known);
  return fc
    .tuple(valuesOf(schema, known), fc.constantFrom(...misses))
    .map(([value, miss]) => place(value, miss.path, miss.value));
}

/** Copies a value with another value at a path. Missing objects and lists on the way are created. */
function place(value: unknown, [name, ...rest]: string[], miss: unknown): unknown {
  if (name === undefined) return miss;
  if (name === '0') return [place(Array.isArray(value) ? value[0] : undefined, rest, miss)];
  const holder = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  const inner = Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;
  return { ...holder, [name]: place(inner, rest, miss) };
}

const year = { min: new Date('0001-01-02T00:00:00Z'), max: new Date('9998-12-30T00:00:00Z'), noInvalidDate: true };

/** Date-times of all years, with and without milliseconds and offset, most of them within the last days. */
const instants = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.nat(10 * 86_400_000).map((ago) => new Date(Date.now() - ago)) },
      { weight: 1, arbitrary: fc.date(year) },
    ),
    fc.constantFrom('.000Z', 'Z', '.123456789Z', '+00:00', '-00:00', '+23:59', '-23:59', '.5+05:30'),
  )
  .map(([date, ending]) => date.toISOString().replace(/\.\d+Z$/, '') + ending);
const days = instants.map((at) => at.slice(0, 10));
