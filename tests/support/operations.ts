import type { ErrorCode } from '../../contract/errors';
import type { OpenApiDocument } from './document';
import { FAULTS, REFUSALS, UNIVERSAL_CODES } from './operation-errors';
import { SUCCESSES } from './operation-successes';

/** An operation of a document, as it is called. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  needsKey: boolean;
  /** `200`, `NOT_FOUND`: what it can answer. */
  outcomes: string[];
}

/** Reads the operations off a document. */
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

/** Operations that the tables have a case for, and what each is seen to answer. */
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

/** Each refusal of the tables by itself. */
export const listRefusals = () =>
  Object.entries(REFUSALS).flatMap(([id, byCode]) =>
    Object.entries(byCode).flatMap(([code, refusals]) =>
      refusals.map((refusal) => ({ id, code: code as ErrorCode, refusal })),
    ),
  );
