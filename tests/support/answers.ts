import { expect } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../contract/errors';
import type { Answer } from './server';

/** Headers that differ from answer to answer. */
const VOLATILE_HEADERS = ['date', 'x-request-id', 'ratelimit', 'keep-alive', 'connection'];

/** Checks the whole error envelope: status, code, message and details (`field` null: details null). */
export function expectError(answer: Pick<Answer, 'status' | 'body'>, code: ErrorCode, field: string | null = null) {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: ERROR_CODES[code].status,
    body: { error: { code, message: expect.stringMatching(/\S/), details: field === null ? null : { field } } },
  });
}

/** What must be equal in two answers that a client may not tell apart. */
export function fingerprintOf({ status, text, headers }: Pick<Answer, 'status' | 'text' | 'headers'>) {
  return { status, text, headers: [...headers].filter(([name]) => !VOLATILE_HEADERS.includes(name)) };
}
