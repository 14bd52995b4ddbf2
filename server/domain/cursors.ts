import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../contract/errors';
import type { DomainContext } from './context';

const VERSION = 1;
const MAC_BYTES = 16;

/** What a cursor is bound to besides its position: whose walk, over what, under which filters (decisions: Cursors). */
export interface Walk {
  route: string;
  filters: Record<string, unknown>;
}
/** The values of a row that its list is sorted by. */
export type Position = readonly (string | number)[];

/**
 * Encodes a position as base64url(version, MAC, position). The MAC covers integration, route and filters too, so that a
 * cursor opens only where it was issued without carrying them.
 */
export function encodeCursor(context: DomainContext, walk: Walk, position: Position): string {
  const body = Buffer.from(JSON.stringify(position));
  return Buffer.concat([Buffer.of(VERSION), signPosition(context, walk, body), body]).toString('base64url');
}

/** Opens a cursor; throws INVALID_REQUEST on `cursor` unless this very walk issued it. */
export function decodeCursor(context: DomainContext, walk: Walk, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const mac = bytes.subarray(1, 1 + MAC_BYTES);
  const body = bytes.subarray(1 + MAC_BYTES);
  // Node's decoder forgives foreign characters and stray bits: only the one spelling that we issue is a cursor.
  const isOurs =
    bytes.toString('base64url') === cursor &&
    bytes[0] === VERSION &&
    mac.length === MAC_BYTES &&
    timingSafeEqual(mac, signPosition(context, walk, body));
  if (!isOurs) throw new ApiError('INVALID_REQUEST', 'cursor is not valid for this request', { field: 'cursor' });
  return JSON.parse(body.toString('utf8')) as Position;
}

function signPosition(context: DomainContext, walk: Walk, body: Buffer): Buffer {
  const filters = Object.entries(walk.filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha256', context.cursorKey)
    .update(JSON.stringify([VERSION, context.integration.id, walk.route, filters]))
    .update('\0')
    .update(body)
    .digest()
    .subarray(0, MAC_BYTES);
}
