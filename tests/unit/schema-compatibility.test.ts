import { describe, expect, it } from 'vitest';
import { findBreakingChanges } from '../support/compatibility';
import type { Json } from '../support/schema-compatibility';

/** Makes a document of one operation, which takes and returns values of these schemas. */
const documentOf = ({ takes = {}, gives = {}, schemas = {} }: Json) => {
  const content = (schema: Json) => ({ content: { 'application/json': { schema } } });
  return {
    paths: { '/x': { post: { requestBody: content(takes), responses: { 200: content(gives) } } } },
    components: { schemas },
  };
};
const compareTaken = (before: Json, after: Json, schemas = {}) =>
  findBreakingChanges(documentOf({ takes: before, schemas }), documentOf({ takes: after, schemas }));
const compareGiven = (before: Json, after: Json, schemas = {}) =>
  findBreakingChanges(documentOf({ gives: before, schemas }), documentOf({ gives: after, schemas }));

describe('the comparison of schemas', () => {
  const number = { type: 'number' };
  const text = { type: 'string' };
  const map = (values: Json, names?: Json) => ({ type: 'object', additionalProperties: values, propertyNames: names });
  const object = (properties: Json) => ({ type: 'object', properties, required: Object.keys(properties) });

  it('looks into maps', () => {
    expect(compareGiven(map(number), map(number))).toEqual([]);
    expect(compareGiven(map(number), map(text))).toEqual(['POST /x: response 200: * is string instead of number']);
    expect(compareGiven(map(number), object({ chrome: number }))).toEqual([
      'POST /x: response 200: * is any instead of number',
    ]);
    expect(compareGiven(map(object({ n: number })), map(object({})))).toEqual(['POST /x: response 200: *.n is gone']);
    const names = (...values: string[]) => ({ type: 'string', enum: values });
    expect(compareGiven(map(number, names('a', 'b')), map(number, names('a')))).toEqual([
      'the names in POST /x: response 200: lost the value "b"',
    ]);
    expect(compareTaken(map(number), map({ ...number, maximum: 5 }))).toEqual([
      'POST /x: request: * has maximum 5 instead of none',
    ]);
    expect(compareTaken(map(number), map({}))).toEqual([]);
  });

  it('distinguishes the objects of an alternative', () => {
    const [cat, dog] = [object({ kind: { const: 'cat' }, lives: number }), object({ kind: { const: 'dog' } })];
    const either = { oneOf: [cat, dog] };
    expect(compareGiven(either, { anyOf: [dog, cat] })).toEqual([]);
    expect(compareGiven(either, { oneOf: [cat, { ...dog, required: [] }] })).toEqual([
      'POST /x: response 200: kind may be absent now',
    ]);
    expect(compareGiven(dog, { oneOf: [dog, object({ name: text })] })).toEqual([
      'POST /x: response 200: kind is gone',
    ]);
    expect(compareTaken(either, cat)).not.toEqual([]);
    expect(compareTaken(cat, either)).toEqual([]);
  });

  it('lets a request widen from integer to number, and an answer only narrow', () => {
    const integer = { type: 'integer' };
    expect(compareTaken(integer, number)).toEqual([]);
    expect(compareTaken(number, integer)).toEqual(['POST /x: request: no longer takes number']);
    expect(compareGiven(integer, number)).toEqual(['POST /x: response 200: is number instead of integer']);
    expect(compareTaken({}, number)).toEqual(['POST /x: request: takes only number now']);
    // Every JSON number is a double. Generators need to be told.
    expect(compareTaken(number, { ...number, format: 'double' })).toEqual([]);
    expect(compareTaken(number, { ...number, format: 'float' })).toEqual([
      'POST /x: request: has format "float" instead of none',
    ]);
    expect(compareGiven({}, number)).toEqual([]);
  });

  it('knows the values of a boolean', () => {
    const boolean = { type: 'boolean' };
    expect(compareGiven({ const: false }, boolean)).toEqual([]);
    expect(compareTaken(boolean, { ...boolean, const: true })).toEqual(['POST /x: request: lost the value false']);
  });

  it('allows a new default, and a changed default or a longer text in answers', () => {
    expect(compareTaken(text, { ...text, default: 'a' })).toEqual([]);
    expect(compareGiven({ ...text, default: 'a' }, { ...text, default: 'b' })).toEqual([]);
    expect(compareGiven({ ...text, maxLength: 100 }, { ...text, maxLength: 200 })).toEqual([]);
  });

  it('infers a missing type', () => {
    const { type: _, ...untyped } = object({ id: text });
    expect(compareGiven(object({ id: text }), untyped)).toEqual([]);
    expect(compareGiven({ type: 'array', items: text }, { items: text })).toEqual([]);
    expect(compareGiven(map(number), { additionalProperties: number })).toEqual([]);
    expect(compareGiven({ type: ['string', 'null'], enum: ['a', null] }, { enum: ['a', null] })).toEqual([]);
    expect(compareGiven(object({ id: text }), object({ id: false }))).toEqual([
      'POST /x: response 200: id is nothing instead of string',
    ]);
  });

  it('reads the keywords next to a reference', () => {
    const reference = { $ref: '#/components/schemas/Name' };
    expect(compareTaken(text, { ...reference, maxLength: 5 }, { Name: text })).toEqual([
      'POST /x: request: has maxLength 5 instead of none',
    ]);
  });

  it('ends for a schema that contains itself', () => {
    const treeOf = (leaf: Json) =>
      object({ leaf, trees: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } });
    const tree = { $ref: '#/components/schemas/Tree' };
    const documentWith = (leaf: Json) => documentOf({ gives: tree, schemas: { Tree: treeOf(leaf) } });
    expect(findBreakingChanges(documentWith(number), documentWith(number))).toEqual([]);
    expect(findBreakingChanges(documentWith(number), documentWith(text))).toEqual([
      'POST /x: response 200: leaf is string instead of number',
      'POST /x: response 200: trees[].leaf is string instead of number',
    ]);
    // The same tree, with its reference at another depth.
    const unrolled = documentOf({ gives: treeOf(number), schemas: { Tree: treeOf(number) } });
    expect(findBreakingChanges(documentWith(number), unrolled)).toEqual([]);
  });

  it('combines the keywords of allOf with those next to alternatives', () => {
    const schemas = { Base: object({ id: text }) };
    const whole = { allOf: [{ $ref: '#/components/schemas/Base' }, object({ name: text })] };
    expect(compareGiven(object({ id: text, name: text }), whole, schemas)).toEqual([]);
    expect(compareGiven(whole, object({ name: text }), schemas)).toEqual(['POST /x: response 200: id is gone']);
    const mixed = { ...object({ id: text }), anyOf: [object({ a: text }), object({ b: text })] };
    expect(compareGiven(mixed, { ...mixed, properties: { id: number } })).toEqual([
      'POST /x: response 200: id is number instead of string',
    ]);
  });

  it('rejects a reference to nothing', () => {
    expect(() => compareGiven({ $ref: '#/components/schemas/None' }, {})).toThrow('leads nowhere');
  });
});
