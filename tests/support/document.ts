import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Answer } from './server';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
type Json = any;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const isRealDay = (day: string) => {
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
};

/** Whether a text is a date or a date-time with an offset, as ISO 8601 writes them. */
export const isDateOrTime = (text: string) => (DATE.test(text) || DATE_TIME.test(text)) && isRealDay(text.slice(0, 10));

export interface Operation {
  method: string;
  path: string;
  operation: Json;
}

function compileSchemas(document: Json): Ajv2020 {
  // A document has keywords that JSON Schema does not know (`example`).
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  for (const format of ['int32', 'int64', 'double', 'float']) ajv.addFormat(format, true);
  ajv.addFormat('date', (text: string) => DATE.test(text) && isRealDay(text));
  ajv.addFormat('date-time', (text: string) => DATE_TIME.test(text) && isRealDay(text.slice(0, 10)));
  return ajv.addSchema(document, 'document');
}

/** Copies a document so that objects with known fields take no others. */
function closeObjects(node: Json): Json {
  if (Array.isArray(node)) return node.map(closeObjects);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closeObjects(value)]));
  return copy.properties && copy.additionalProperties === true ? { ...copy, additionalProperties: false } : copy;
}

/** An OpenAPI document as tests use it: its operations, and validators of its schemas. */
export class OpenApiDocument {
  readonly #ajv: Ajv2020;
  /** Of the document without fields that a later version may add: this version sends only what it documents. */
  readonly #closedAjv: Ajv2020;
  readonly json: Json;
  readonly #operations: Operation[];

  constructor(json: Json) {
    this.json = json;
    this.#operations = Object.entries<Json>(json.paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => ({
        method,
        path,
        operation: this.#inlineReferences(item[method]),
      })),
    );
    this.#ajv = compileSchemas(json);
    this.#closedAjv = compileSchemas(closeObjects(json));
  }

  /** Lists the operations. What they refer to stands in its place. */
  listOperations(): Operation[] {
    return this.#operations;
  }

  #inlineReferences(node: Json): Json {
    if (Array.isArray(node)) return node.map((item) => this.#inlineReferences(item));
    if (typeof node !== 'object' || node === null) return node;
    if (node.$ref) return this.#inlineReferences(this.schemaAt(...node.$ref.split('/').slice(1)));
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, this.#inlineReferences(value)]));
  }

  /** Finds the schema at a place in the document, given by its keys, through references. */
  schemaAt(...keys: string[]): Json {
    const schema = keys.reduce((node, key) => node?.[key], this.json);
    return schema?.$ref ? this.schemaAt(...schema.$ref.split('/').slice(1)) : schema;
  }

  /** Finds the validator of the schema at a place in the document, given by its keys. */
  validatorAt(...keys: string[]): ValidateFunction {
    return this.#findValidator(this.#ajv, keys);
  }

  #findValidator(ajv: Ajv2020, keys: string[]): ValidateFunction {
    const pointer = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = ajv.getSchema(`document#/${pointer}`);
    if (!validate) throw new Error(`no schema at ${keys.join(' / ')}`);
    return validate;
  }

  /** Checks that a value is valid, and that it has no field that the document does not name. */
  expectValid(value: unknown, ...keys: string[]) {
    const validate = this.#findValidator(this.#closedAjv, keys);
    expect({ keys, valid: validate(value), errors: validate.errors, value }).toMatchObject({ valid: true });
  }

  /** Checks an answer against its operation in the document: status, body, media type and headers. */
  expectDocumented(answer: Answer, method: string, path: string) {
    const status = String(answer.status);
    const operation = this.json.paths[path]?.[method.toLowerCase()];
    expect(Object.keys(operation?.responses ?? {}), `${method} ${path}`).toContain(status);
    const response = operation.responses[status];
    if (response.content) {
      const [type = ''] = answer.headers.get('content-type')?.split(';') ?? [];
      expect(Object.keys(response.content), `${method} ${path}`).toContain(type);
      const keys = ['paths', path, method.toLowerCase(), 'responses', status, 'content', type, 'schema'];
      this.expectValid(type === 'application/json' ? answer.body : answer.text, ...keys);
    } else {
      expect([answer.text, answer.headers.get('content-type')]).toEqual(['', null]);
    }
    // A repeat alone has the header Idempotent-Replayed: `tests/rest/idempotency.test.ts`.
    for (const name of Object.keys(response.headers ?? {}).filter((one) => one !== 'Idempotent-Replayed'))
      expect([`${method} ${path} ${status}`, name, answer.headers.get(name)]).toEqual([
        `${method} ${path} ${status}`,
        name,
        expect.any(String),
      ]);
  }
}
