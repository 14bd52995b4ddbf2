import { ApiError } from '../../contract/errors';
import { exportFormatInput } from '../../contract/exports';
import type { VerifiedKey } from '../domain/key-verifier';
import type { JsonFile } from '../procedures/file-answer';
import type { Service } from '../service';
import { writeContentDisposition } from './content-disposition';
import { answerListFile, FilePlaces, openFile, type ReadPage, writeListFile } from './list-files';
import { callProcedure } from './procedure-call';
import type { RestResponse } from './responses';
import type { Route } from './routes';

// Files for a key: `GET /v1/exports/…`, a list of the API, and `GET /v1/users/{userId}/export`. They share the places.

const PLACES = new FilePlaces(8);

interface Call {
  route: Route;
  input: Record<string, unknown>;
  headers: Record<string, string>;
}

/** Answers an export. Throws what the list refuses, and RATE_LIMITED if too many files are being written. */
export function answerExport(service: Service, verified: VerifiedKey, call: Call): Promise<RestResponse> {
  const { route, headers } = call;
  const { format: asked, ...filters } = call.input;
  const { data, error } = exportFormatInput.safeParse(asked);
  if (error) throw new ApiError('INVALID_REQUEST', `format ${error.issues[0]!.message}`, { field: 'format' });
  const format = route.formats![data];
  const ctx = { service, caller: { kind: 'api-key', verified } } as const;
  const readPage = (position: object) => callProcedure(route, ctx, { ...filters, ...position }) as ReturnType<ReadPage>;
  const releasePlace = PLACES.take(service, verified.integration.id);
  const name = route.template.slice(route.template.lastIndexOf('/') + 1);
  return answerListFile(writeListFile(readPage, format), { name, format, headers, releasePlace });
}

/**
 * Answers a long result as a file in the envelope. Its first piece is read before, so that a refusal is an answer. Throws
 * what the first piece throws, and RATE_LIMITED as `answerExport` does.
 */
export async function answerJsonFile(
  service: Service,
  verified: VerifiedKey,
  headers: Record<string, string>,
  { name, pieces }: JsonFile,
): Promise<RestResponse> {
  async function* write() {
    let begin = '{"data":';
    for await (const piece of pieces) {
      yield Buffer.from(begin + piece);
      begin = '';
    }
    yield Buffer.from(`${begin}}`);
  }
  const type = { 'content-type': 'application/json; charset=utf-8' };
  const named = { 'content-disposition': writeContentDisposition(name, 'json') };
  const stream = await openFile(write(), PLACES.take(service, verified.integration.id));
  return { status: 200, headers: { ...headers, ...type, ...named }, body: null, stream };
}
