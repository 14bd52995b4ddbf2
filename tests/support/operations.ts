import { expect } from 'vitest';
import type { ErrorCode } from '../../contract/errors';
import { expectError } from './answers';
import type { ApiServer } from './api-servers';
import type { OpenApiDocument } from './document';
import type { Fixture, Ids } from './fixture';
import { FAULTS, REFUSALS, UNIVERSAL_CODES } from './operation-errors';
import { SUCCESSES } from './operation-successes';
import type { Answer, CallOptions } from './server';

/** An operation of a document and how it is called. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  needsKey: boolean;
  /** What it can answer: `200`, `NOT_FOUND`. */
  outcomes: string[];
}

/** Reads the operations of a document. */
export function listOperations(document: OpenApiDocument): Operation[] {
  return document.listOperations().map(({ method, path, operation }) => ({
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    needsKey: path.startsWith('/v1/'),
    outcomes: Object.entries<{ content?: Record<string, { examples?: object }> }>(operation.responses).flatMap(
      ([status, response]) =>
        Number(status) < 300
          ? [status]
          : Object.keys(response.content?.['application/json']?.examples ?? { [status]: 0 }),
    ),
  }));
}

/** Lists the operations that the tables have a case for, and the answers that the cases expect. */
export function listCases(): { id: string; outcomes: string[] }[] {
  return Object.entries(SUCCESSES).map(([id, { status }]) => ({
    id,
    outcomes: [
      String(status),
      ...(FAULTS[id] ? UNIVERSAL_CODES : []),
      ...Object.entries(REFUSALS[id] ?? {}).flatMap(([code, refusals]) => (refusals.length > 0 ? [code] : [])),
    ],
  }));
}

/** Lists the refusals of the tables one by one. */
export const listRefusals = () =>
  Object.entries(REFUSALS).flatMap(([id, byCode]) =>
    Object.entries(byCode).flatMap(([code, refusals]) =>
      refusals.map((refusal) => ({ id, code: code as ErrorCode, refusal })),
    ),
  );

/** Finds the operation with an id in the document that a server serves. */
export function findOperation({ document }: ApiServer, id: string): Operation {
  const operation = listOperations(document).find((one) => one.id === id);
  if (!operation) throw new Error(`${id} is not in the document`);
  return operation;
}

export const fillPath = (path: string, ids: Ids) =>
  path.replace(/\{(\w+)\}/g, (_, name: keyof Ids) => encodeURIComponent(ids[name]));

export interface Change extends CallOptions {
  ids?: Partial<Ids>;
  query?: string;
}

/** Sends the request that succeeds for a fixture, with the given changes. */
export function sendOperation(
  api: ApiServer,
  id: string,
  fixture: Fixture,
  { ids, query, ...options }: Change = {},
): Promise<Answer> {
  const { method, path } = findOperation(api, id);
  const success = SUCCESSES[id]!;
  const body = success.body?.(fixture);
  const search = query ?? success.query;
  const target = fillPath(path, { ...fixture.ids, ...ids }) + (search === undefined ? '' : `?${search}`);
  return api.call(method, target, { key: fixture.key, ...(body === undefined ? {} : { body }), ...options });
}

/** Sends the request of an operation that succeeds, and checks its answer and its effects. */
export async function expectSuccess(api: ApiServer, id: string, fixture: Fixture): Promise<void> {
  const answer = await sendOperation(api, id, fixture);
  expect([answer.status, answer.status < 300 ? '' : answer.text]).toEqual([SUCCESSES[id]!.status, '']);
  const { method, path, needsKey } = findOperation(api, id);
  api.document.expectDocumented(answer, method, path);
  expect(answer.headers.get('x-service-tier')).toBe(needsKey ? 'enterprise' : null);
  await SUCCESSES[id]!.check(answer, fixture);
}

/** Checks an error against the envelope and against the document, which must list it. */
export function expectDocumentedError(api: ApiServer, id: string, answer: Answer, code: ErrorCode, field?: string) {
  const { method, path, outcomes } = findOperation(api, id);
  expectError(answer, code, field ?? null);
  api.document.expectDocumented(answer, method, path);
  expect(outcomes).toContain(code);
}
