import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../contract/errors';
import type { DomainContext } from './context';

const VERSION = 1;
const MAC_BYTES = 16;

/** The list that a cursor belongs to: its route and its filters (decisions: Cursors). */
export interface Walk {
  route: string;
  filters: Record<string, unknown>;
}
/** The values of a row by which its list is sorted. */
export type Position = readonly (string | number)[];

/**
 * Encodes a position as base64url(version, MAC, position). The MAC also covers integration, route and filters. So a cursor
 * is valid only for the list that issued it, but need not contain them.
 */
export function encodeCursor(context: DomainContext, walk: Walk, position: Position): string {
  const body = Buffer.from(JSON.stringify(position));
  return Buffer.concat([Buffer.of(VERSION), signPosition(context, walk, body), body]).toString('base64url');
}

/** Decodes a cursor. Throws INVALID_REQUEST on `cursor` unless the same list, with the same filters, issued it. */
export function decodeCursor(context: DomainContext, walk: Walk, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const mac = bytes.subarray(1, 1 + MAC_BYTES);
  const body = bytes.subarray(1 + MAC_BYTES);
  // Node's decoder ignores invalid characters and surplus bits, but only the exact text that we issued is a valid cursor.
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
