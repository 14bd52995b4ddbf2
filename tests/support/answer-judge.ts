import { expect } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../contract/errors';
import { expectError } from './answers';
import type { RawAnswer } from './connection';
import type { OpenApiDocument } from './document';
import type { GeneratedRequest } from './request-generator';
import type { Judgement } from './request-judge';

// Words that leak internals: stacks, files, SQL, drivers, and the schema library's messages.
const INTERNAL_WORDS =
  /\bat \S+ \(|^\s+at |\/(tmp|home|usr|app|server|var)\/|node_modules|\.[cm]?[jt]s\b|\brelation\b|syntax error|\b(select|insert|update|from|where)\b .*\b(from|into|set|where)\b|violates|duplicate key|postgres|drizzle|zod|trpc|ECONN|undefined|\[object |NaN\b|Invalid input|Invalid option|Too (big|small)|(?<!\.)\bexpected\b|\breceived\b|Unrecognized/i;

/** Checks that a text contains none of the `secrets` as they are, and no trace of how the product is built. */
export function expectNothingInternal(message: string, text: string, secrets: readonly string[]) {
  expect(message).not.toMatch(INTERNAL_WORDS);
  for (const secret of secrets) expect(text.includes(secret), 'a secret in the answer').toBe(false);
}

/**
 * Checks an answer to a request with a valid key. It must be documented for its operation; an error must be in the
 * envelope and name an existing field; and the answer must agree with the document about what was wrong.
 */
export function expectAgreement(
  document: OpenApiDocument,
  { operation, faults }: Judgement,
  request: GeneratedRequest,
  answer: RawAnswer,
) {
  expect(answer.status).toBeLessThan(500);
  expect(answer.header('x-request-id')).toMatch(/^req_\w+$/);
  if (request.method === 'HEAD') {
    expect(answer.status).toBe(faults.length > 0 ? 400 : answer.status);
    return;
  }
  if (!operation) return expectError(answer, 'NOT_FOUND');
  const headers = new Headers(answer.rawHeaders);
  document.expectDocumented({ ...answer, headers }, operation.method, operation.path);
  if (answer.status >= 400) expectErrorOf({ operation, faults }, answer);
  expect({ faults, status: answer.status }).toEqual({ faults, status: faults.length > 0 ? 400 : answer.status });
}

function expectErrorOf({ operation, faults }: Pick<Judgement, 'operation' | 'faults'>, answer: RawAnswer) {
  const { code, message, details } = answer.body.error as {
    code: ErrorCode;
    message: string;
    details: { field: string } | null;
  };
  const { content } = operation!.operation.responses[answer.status];
  expect(Object.keys(content['application/json'].examples)).toContain(code);
  const field = ERROR_CODES[code].hasField ? String(details?.field) : null;
  expectError(answer, code, field);
  if (code !== 'INVALID_REQUEST' && code !== 'INVALID_BODY') {
    const others = faults.filter((fault) => fault.code === 'INVALID_REQUEST' || fault.code === 'INVALID_BODY');
    expect({ code, mustBe: others }).toEqual({ code, mustBe: [] });
    return;
  }
  // The message names the field and is readable text.
  expect(message.slice(0, field!.length + 1)).toBe(`${field} `);
  expect(message).toMatch(/ (is|has|must|contains|makes) /);
  expect(listFields(operation!.operation, code)).toContain(field!.split('.')[0]);
  const agreed = faults.some((fault) => fault.code === code && isSamePlace(fault.field, field!));
  expect({ code, field, message, agreed, faults }).toMatchObject({ agreed: true });
}

/** Lists the parameters of an operation, or the fields of its body. */
function listFields(operation: OpenApiDocument['json'], code: ErrorCode): string[] {
  if (code === 'INVALID_REQUEST') return operation.parameters.map(({ name }: { name: string }) => name);
  const { schema } = operation.requestBody.content['application/json'];
  return ['body', ...Object.keys(schema.properties)];
}

/** A fault in an item of a list is also one of the list, and the other way round. */
const isSamePlace = (a: string, b: string) => a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
