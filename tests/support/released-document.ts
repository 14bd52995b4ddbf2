import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { findObjections } from './compatibility';
import type { Json } from './schema-compatibility';

/** Writes a document to the file of the released one, unless there are objections. Answers the objections. */
export function releaseDocument(path: string, current: Json): string[] {
  const objections = existsSync(path) ? findObjections(JSON.parse(readFileSync(path, 'utf8')), current) : [];
  if (objections.length === 0) writeFileSync(path, `${JSON.stringify(current, null, 2)}\n`);
  return objections;
}
