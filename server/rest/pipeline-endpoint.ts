import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { OUTAGE_MESSAGE } from '../../contract/errors';
import { isKnownOutage, isUnavailable } from '../../db/client';
import type { Context } from '../procedures/context';
import { ingestFacts } from '../procedures/pipeline';
import { appRouter } from '../procedures/router';
import type { Service } from '../service';
import { type Access, beginAccess, endAccess } from './access-log';
import type { RestResponse } from './responses';
import { listAnswerHeaders } from './security-headers.mjs';
import { writeError } from './trpc-internals';

// The endpoint of the pipeline. It has tRPC's path and JSON format, but does not go through tRPC's adapter, which would cost
// too much under the product's write load.

export const PIPELINE_PROCEDURE = 'pipeline.ingest';
export const PIPELINE_PATH = `/api/trpc/${PIPELINE_PROCEDURE}`;
export const MAX_FACTS_BYTES = 1024 * 1024;

const BEARER = /^bearer[ \t]+(\S+)[ \t]*$/i;

export interface FactsRequest {
  header(name: string): string | null;
  /** Reads the body. Returns null if it is longer than MAX_FACTS_BYTES. Called only if the token is valid. */
  readBody(): Promise<Uint8Array | null>;
}

/** Reads the token from an Authorization header. */
function readBearerToken(authorization: string | null): string | null {
  return authorization === null ? null : (BEARER.exec(authorization)?.[1] ?? null);
}

/** Answers a POST to the pipeline's endpoint as tRPC answers a call without batching. Never rejects. */
export async function answerPipeline(service: Service, request: FactsRequest): Promise<RestResponse> {
  const access = beginAccess('POST', PIPELINE_PROCEDURE);
  const response = await answerFacts(service, request, access);
  response.headers['x-request-id'] = access.requestId;
  endAccess(service, access, response.status);
  return response;
}

async function answerFacts(service: Service, request: FactsRequest, access: Access): Promise<RestResponse> {
  const ctx: Context = { service, caller: { kind: 'bearer', token: readBearerToken(request.header('authorization')) } };
  try {
    const data = await ingestFacts(ctx, () => readInput(request));
    Object.assign(access, data);
    service.metrics.countFacts(data);
    return respond(service, 200, { result: { data } });
  } catch (thrown) {
    const error = toTrpcError(service, thrown, access.requestId);
    access.code = error.code;
    const shape = writeError(appRouter, { error, path: PIPELINE_PROCEDURE, ctx });
    return respond(service, getHTTPStatusCodeFromError(error), { error: shape });
  }
}

async function readInput(request: FactsRequest): Promise<unknown> {
  const bytes = await request.readBody();
  if (bytes === null)
    throw new TRPCError({ code: 'PAYLOAD_TOO_LARGE', message: `The body is longer than ${MAX_FACTS_BYTES} bytes` });
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new TRPCError({ code: 'PARSE_ERROR', message: 'The body is not valid JSON' });
  }
}

function toTrpcError(service: Service, thrown: unknown, requestId: string): TRPCError {
  const error = getTRPCErrorFromUnknown(thrown);
  if (isUnavailable(thrown)) {
    service.log[isKnownOutage(thrown) ? 'debug' : 'warn'](
      { err: thrown, requestId },
      'the pipeline’s facts could not be written',
    );
    return new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: OUTAGE_MESSAGE });
  }
  if (error.code === 'INTERNAL_SERVER_ERROR')
    service.log.error({ err: thrown, requestId }, 'the pipeline’s facts could not be written');
  return error;
}

function respond({ env }: Service, status: number, value: unknown): RestResponse {
  const body = JSON.stringify(value);
  // With a known length, Node sends headers and body in one piece instead of chunks.
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...listAnswerHeaders(env.publicUrl),
  };
  return { status, headers, body };
}
