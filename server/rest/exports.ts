import { ApiError } from '../../contract/errors';
import { exportFormatInput } from '../../contract/exports';
import type { VerifiedKey } from '../domain/key-verifier';
import type { Service } from '../service';
import { answerListFile, FilePlaces, type ReadPage, writeListFile } from './list-files';
import { callProcedure } from './procedure-call';
import type { RestResponse } from './responses';
import type { Route } from './routes';

// `GET /v1/exports/…`: a list of the API as a file, for a key.

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
