import { readFileSync } from 'node:fs';
import { readEnv } from '../../../server/platform/env';
import { readDocument } from '../../../server/rest/document';
import { findBreakingChanges } from '../../support/compatibility';
import type { Json } from '../../support/schema-compatibility';

// The document as it is released, as it is now, and the places in it that the tests change.

const RELEASED_PATH = 'docs/openapi.json';
export const released: Json = JSON.parse(readFileSync(RELEASED_PATH, 'utf8'));
export const current: Json = JSON.parse(readDocument(readEnv({})).body as string);

/** Lists what the comparison finds in the released document after a mutation. */
export function findAfter(mutate: (document: Json) => void, before = released): string[] {
  const after = structuredClone(before);
  mutate(after);
  return findBreakingChanges(before, after);
}

/** Finds the node at some keys of a document, through references. */
export const at = (document: Json, ...keys: string[]): Json =>
  keys.reduce((node, key) => {
    const next = node[key];
    return next.$ref
      ? next.$ref
          .slice(2)
          .split('/')
          .reduce((target: Json, part: string) => target[part], document)
      : next;
  }, document);

const bodyOf = ['content', 'application/json', 'schema'];
export const integration = (document: Json) => document.components.schemas.Integration;
export const created = (document: Json) => at(document, 'paths', '/v1/webhooks', 'post', 'requestBody', ...bodyOf);
/** The threshold of a create request alone: an update request refers to the same schema. */
export const threshold = (document: Json) => {
  const choices = created(document).properties.threshold.anyOf;
  if (choices[0].$ref) choices[0] = structuredClone(document.components.schemas.ThresholdInput);
  return choices[0];
};
export const sessions = (document: Json) => document.paths['/v1/sessions'].get;
export const botDetected = (document: Json) => document.webhooks.BotDetected.post;
export const payload = (document: Json) => at(document, 'webhooks', 'BotDetected', 'post', 'requestBody', ...bodyOf);
export const query = (document: Json, name: string) =>
  sessions(document).parameters.find((each: Json) => each.name === name);
export const drop = (list: unknown[], isIt: (item: Json) => boolean) => list.splice(list.findIndex(isIt), 1);
export const rename = (holder: Json, from: string, to: string) => {
  holder[to] = holder[from];
  delete holder[from];
};
