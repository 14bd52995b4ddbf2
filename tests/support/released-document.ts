import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { findObjections } from './compatibility';
import type { Json } from './schema-compatibility';

/**
 * Changes that a version makes although they are listed as breaking, each with the reason why no client breaks: the service
 * sends and takes what it did before.
 */
const ACCEPTED_CHANGES: Record<string, Record<string, string>> = {
  '1.6.0.0': Object.fromEntries(
    ['GET /v1/webhooks', 'POST /v1/webhooks', 'GET /v1/webhooks/{id}', 'PATCH /v1/webhooks/{id}'].map((operation) => [
      `${operation}: response 200: data${operation === 'GET /v1/webhooks' ? '[]' : ''}.threshold.value[] is any instead of boolean or number or string`,
      'No client that openapi-generator made for Python or Java could read the list, and the document gave none before.',
    ]),
  ),
};

/** Writes a document to the file of the released one, unless there are objections. Answers the objections. */
export function releaseDocument(path: string, current: Json): string[] {
  const accepted = ACCEPTED_CHANGES[current.info.version] ?? {};
  const objections = existsSync(path) ? findObjections(JSON.parse(readFileSync(path, 'utf8')), current) : [];
  const open = objections.filter((objection) => !Object.hasOwn(accepted, objection));
  if (open.length === 0) writeFileSync(path, `${JSON.stringify(current, null, 2)}\n`);
  return open;
}
