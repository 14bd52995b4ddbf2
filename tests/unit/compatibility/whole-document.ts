import { describe, expect, it } from 'vitest';
import { findBreakingChanges } from '../../support/compatibility';
import { type Direction, entriesOf, type Json, resolve } from '../../support/schema-compatibility';
import { at, released } from './compared-documents';

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

export function registerWholeDocumentTests(): void {
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
}
