// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
export type Json = any;

/**
 * The direction of a value: `in` to us, where accepting less breaks a client, or `out` to the client, where promising
 * less does.
 */
export type Direction = 'in' | 'out';

/** A schema of one type. `anyOf`, `oneOf`, `allOf`, lists of types and references are resolved to these. */
interface Variant extends Record<string, Json> {
  type: string;
}

const ANYTHING = {};
const TEXT = { type: 'string' };

const FLOORS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const CEILINGS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
/** Keywords for the scale of a number that we send. The lengths that we send may grow with those that we accept. */
const SCALE = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'];
/** Constraints that are either equal or different: nobody can tell which of two is narrower. */
const OPAQUE = ['format', 'pattern', 'multipleOf', 'uniqueItems', 'not', 'if', 'then', 'else', 'contains']
  .concat(['prefixItems', 'patternProperties', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'])
  .concat(['contentEncoding', 'contentMediaType']);

export const show = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(value));
export const entriesOf = (object: Json): [string, Json][] => Object.entries(object ?? {});
export const get = (object: Json, name: string): Json => (Object.hasOwn(object ?? {}, name) ? object[name] : undefined);

/** Makes a finding, or a place within a place. A place ends in `: ` until it names something inside. */
const say = (place: string, text: string) => (place.endsWith(': ') ? place + text : `${place} ${text}`);
const nest = (place: string, name: string) => (place.endsWith(': ') ? place + name : `${place}.${name}`);

/** Compares schemas of two documents. */
export class SchemaComparison {
  readonly #before: Json;
  readonly #after: Json;
  /** The pairs under comparison, so that a recursive schema comes to an end. */
  readonly #trail: [Json, Json][] = [];
  /** Pairs of references without findings. Hundreds of operations refer to the same few schemas. */
  readonly #kept = new Set<string>();

  constructor(before: Json, after: Json) {
    this.#before = before;
    this.#after = after;
  }

  /** Finds what breaks if a schema of the first document is followed by one of the second. */
  compare(place: string, before: Json, after: Json, direction: Direction): string[] {
    if (this.#trail.some(([b, a]) => b === before && a === after)) return [];
    const pair = isReference(before) && isReference(after) ? `${direction} ${before.$ref} ${after.$ref}` : null;
    if (pair !== null && this.#kept.has(pair)) return [];
    this.#trail.push([before, after]);
    const [old, now] = [listVariants(this.#before, before), listVariants(this.#after, after)];
    const findings = compareTypes(place, old, now, direction);
    for (const type of new Set(old.map((variant) => variant.type))) {
      const candidates = now.filter((variant) => accepts(variant.type, type, direction));
      if (candidates.length === 0) continue;
      const table = old
        .filter((variant) => variant.type === type)
        .map((variant) => candidates.map((candidate) => this.#compareVariants(place, variant, candidate, direction)));
      // Of several variants of a type, the nearest one is compared.
      findings.push(...table.flatMap(pickShortest));
      // Everything that we send must be something that we sent before.
      if (direction === 'out')
        findings.push(...candidates.flatMap((_, n) => pickShortest(table.map((row) => row[n]!))));
    }
    this.#trail.pop();
    if (pair !== null && findings.length === 0) this.#kept.add(pair);
    return findings;
  }

  #compareVariants(place: string, before: Variant, after: Variant, direction: Direction): string[] {
    const findings = [
      ...compareValues(place, before, after, direction),
      ...compareConstraints(place, before, after, direction),
    ];
    if (before.type === 'array')
      findings.push(...this.compare(`${place}[]`, before.items ?? ANYTHING, after.items ?? ANYTHING, direction));
    if (before.type === 'object')
      findings.push(
        ...this.#compareFields(place, before, after, direction),
        ...this.#compareFurtherFields(place, before, after, direction),
      );
    return findings;
  }

  #compareFields(place: string, before: Variant, after: Variant, direction: Direction): string[] {
    const findings = entriesOf(before.properties).flatMap(([name, schema]) => {
      const later = get(after.properties, name);
      if (later === undefined) return [say(nest(place, name), 'is gone')];
      return this.compare(nest(place, name), schema, later, direction);
    });
    const [old, now]: [string[], string[]] = [before.required ?? [], after.required ?? []];
    const broken =
      direction === 'in'
        ? now.filter((name) => !old.includes(name))
        : old.filter((name) => !now.includes(name) && get(after.properties, name) !== undefined);
    const text = direction === 'in' ? 'is required now' : 'may be absent now';
    return [...findings, ...broken.map((name) => say(nest(place, name), text))];
  }

  /** Compares the fields of an object whose names are data: a map from browsers to counts, for example. */
  #compareFurtherFields(place: string, before: Variant, after: Variant, direction: Direction): string[] {
    // An answer may gain fields that a client does not know. Only a map makes a promise about its values.
    if (direction === 'in' ? before.additionalProperties === false : typeof before.additionalProperties !== 'object')
      return [];
    if (after.additionalProperties === false)
      return [direction === 'in' ? say(place, 'takes no further fields now') : say(nest(place, '*'), 'is gone')];
    const [old, now] = [before, after].map((each) => each.additionalProperties ?? ANYTHING);
    const [oldNames, nowNames] = [before, after].map((each) => each.propertyNames ?? TEXT);
    return [
      ...this.compare(nest(place, '*'), old, now, direction),
      ...this.compare(`the names in ${place}`, oldNames, nowNames, direction),
    ];
  }
}

const isReference = (schema: Json) => schema.$ref !== undefined && Object.keys(schema).length === 1;

const accepts = (later: string, type: string, direction: Direction) =>
  later === type || (direction === 'in' && type === 'integer' && later === 'number');

const pickShortest = (lists: string[][]) => lists.reduce((best, list) => (list.length < best.length ? list : best));

function compareTypes(place: string, old: Variant[], now: Variant[], direction: Direction): string[] {
  const listTypes = (variants: Variant[]) => [...new Set(variants.map(({ type }) => type))].sort();
  const [was, is] = [listTypes(old), listTypes(now)];
  const types = is.join(' or ') || 'nothing';
  if (direction === 'in') {
    const lost = was.filter((type) => !is.includes('any') && !is.some((later) => accepts(later, type, direction)));
    if (lost.includes('any')) return [say(place, `takes only ${types} now`)];
    return lost.length > 0 ? [say(place, `no longer takes ${lost.join(' or ')}`)] : [];
  }
  if (was.includes('any')) return [];
  const [wasReal, isReal] = [was, is].map((list) => list.filter((type) => type !== 'null').join());
  if (wasReal !== isReal) return [say(place, `is ${types} instead of ${was.join(' or ')}`)];
  return is.includes('null') && !was.includes('null') ? [say(place, 'may be null now')] : [];
}

/** A new value in an answer is an addition. */
function compareValues(place: string, before: Variant, after: Variant, direction: Direction): string[] {
  const [old, now] = [listValues(before), listValues(after)];
  if (!now) return old && direction === 'out' ? [say(place, 'no longer lists its values')] : [];
  if (!old) return direction === 'in' ? [say(place, `takes only ${now.join(', ')} now`)] : [];
  return old.filter((value) => !now.includes(value)).map((value) => say(place, `lost the value ${value}`));
}

function listValues({ type, enum: values, const: value }: Variant): string[] | null {
  const known = values ?? (value === undefined ? (type === 'boolean' ? [true, false] : null) : [value]);
  return known?.filter((each: unknown) => each !== null).map(show) ?? null;
}

function compareConstraints(place: string, before: Variant, after: Variant, direction: Direction): string[] {
  const isNarrower = (keyword: string, from?: number, to?: number) =>
    to !== undefined && (from === undefined || (FLOORS.includes(keyword) ? to > from : to < from));
  const isBroken = (keyword: string) => {
    const [old, now] = [before[keyword], after[keyword]];
    if (old === now) return false;
    // A client that leaves a value out relies on the default.
    // Every JSON number is a double.
    if (keyword === 'format' && before.type === 'number' && old === undefined && now === 'double') return false;
    if (keyword === 'default') return direction === 'in' && old !== undefined && show(old) !== show(now);
    if (OPAQUE.includes(keyword)) return (direction === 'in' ? now : old) !== undefined && show(old) !== show(now);
    return direction === 'in'
      ? isNarrower(keyword, old, now)
      : SCALE.includes(keyword) && isNarrower(keyword, now, old);
  };
  return [...FLOORS, ...CEILINGS, ...OPAQUE, 'default']
    .filter(isBroken)
    .map((keyword) => say(place, `has ${keyword} ${show(after[keyword])} instead of ${show(before[keyword])}`));
}

/** Follows references. Keywords next to a reference count too. */
export function resolve(document: Json, node: Json): Json {
  if (!node?.$ref) return node;
  const { $ref, ...beside } = node;
  const readKey = (key: string) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
  const target = $ref.slice(2).split('/').map(readKey).reduce(get, document);
  if (target === undefined) throw new Error(`${$ref} leads nowhere`);
  return resolve(document, { ...target, ...beside });
}

/** Splits a schema into variants of one type each. */
function listVariants(document: Json, schema: Json): Variant[] {
  if (typeof schema === 'boolean') return schema ? [{ type: 'any' }] : [];
  const { allOf, anyOf, oneOf, ...rest } = resolve(document, schema);
  const merge = (a: Json, b: Json) => mergeSchemas(a, resolve(document, b));
  const members: Json[] | undefined = anyOf ?? oneOf;
  if (allOf) return listVariants(document, { ...allOf.reduce(merge, rest), ...(members && { anyOf: members }) });
  if (members) return members.flatMap((each) => listVariants(document, merge(rest, each)));
  const types: string[] = rest.type === undefined ? inferTypes(rest) : [rest.type].flat();
  // Of the keywords next to `null`, only a list of values concerns it.
  return types.flatMap((type) => (type !== 'null' ? { ...rest, type } : allowsNull(rest) ? { type } : []));
}

const allowsNull = ({ enum: values, const: value }: Json) =>
  values ? values.includes(null) : value === undefined || value === null;

function mergeSchemas(a: Json, b: Json): Json {
  const required = [...(a.required ?? []), ...(b.required ?? [])];
  return { ...a, ...b, properties: { ...a.properties, ...b.properties }, required };
}

function inferTypes({ enum: values, const: value, properties, items, additionalProperties }: Json): string[] {
  const known: Json[] = values ?? (value === undefined ? [] : [value]);
  if (known.length > 0) return [...new Set(known.map((each) => (each === null ? 'null' : typeof each)))];
  if (Object.keys(properties ?? {}).length > 0 || additionalProperties) return ['object'];
  return [items ? 'array' : 'any'];
}
