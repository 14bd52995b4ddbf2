import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Answer } from './server';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
type Json = any;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

const DATE_TIME = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const isRealDay = (day: string) => {
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
};

export interface Operation {
  method: string;
  path: string;
  operation: Json;
}

/** An OpenAPI document as tests use it: its operations, and validators of its schemas. */
export class OpenApiDocument {
  readonly #ajv: Ajv2020;
  readonly json: Json;

  constructor(json: Json) {
    this.json = json;
    // A document has keywords that JSON Schema does not know (`example`).
    this.#ajv = new Ajv2020({ strict: false, allErrors: true });
    for (const format of ['int32', 'int64', 'double', 'float']) this.#ajv.addFormat(format, true);
    this.#ajv.addFormat('date', (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && isRealDay(text));
    this.#ajv.addFormat('date-time', (text: string) => DATE_TIME.test(text) && isRealDay(text.slice(0, 10)));
    this.#ajv.addFormat('uri', (text: string) => URL.canParse(text));
    this.#ajv.addSchema(json, 'document');
  }

  listOperations(): Operation[] {
    return Object.entries<Json>(this.json.paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => ({ method, path, operation: item[method] })),
    );
  }

  /** Finds the validator of the schema at a place in the document, given by its keys. */
  validatorAt(...keys: string[]): ValidateFunction {
    const pointer = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = this.#ajv.getSchema(`document#/${pointer}`);
    if (!validate) throw new Error(`no schema at ${keys.join(' / ')}`);
    return validate;
  }

  expectValid(value: unknown, ...keys: string[]) {
    const validate = this.validatorAt(...keys);
    expect({ keys, valid: validate(value), errors: validate.errors, value }).toMatchObject({ valid: true });
  }

  /** Checks an answer against its operation in the document: status, body, media type and headers. */
  expectDocumented(answer: Answer, method: string, path: string) {
    const status = String(answer.status);
    const operation = this.json.paths[path]?.[method.toLowerCase()];
    expect(Object.keys(operation?.responses ?? {}), `${method} ${path}`).toContain(status);
    const response = operation.responses[status];
    if (response.content) {
      expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
      const keys = ['paths', path, method.toLowerCase(), 'responses', status, 'content', 'application/json', 'schema'];
      this.expectValid(answer.body, ...keys);
    } else {
      expect([answer.text, answer.headers.get('content-type')]).toEqual(['', null]);
    }
    for (const name of Object.keys(response.headers ?? {}))
      expect([`${method} ${path} ${status}`, name, answer.headers.get(name)]).toEqual([
        `${method} ${path} ${status}`,
        name,
        expect.any(String),
      ]);
  }
}
