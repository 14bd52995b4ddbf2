import { z } from 'zod';
import {
  cutText,
  freeObject,
  instantText,
  isPathId,
  isStorableText,
  isWebUrl,
  MAX_INT32,
  text,
} from '../../contract/fields';

/** An id of the pipeline: 1 to 256 characters, without control characters, not `.` or `..`. */
export const factId = () => text(1, 256).refine(isPathId, 'must be free of control characters and not . or ..');

/** An absolute http or https address. */
export const webUrl = () => text(1, 8192).refine(isWebUrl, 'must be an http or https address');

const MAX_PAGE_URL_LENGTH = 2048;

/** Cuts the address of a page, which a visitor can make as long as the fact allows, to what is stored and shown. */
export const cutPageUrl = (url: string) => cutText(url, MAX_PAGE_URL_LENGTH);

/** A time of the pipeline. */
export const factTime = instantText;

/** A score or a confidence. */
export const unitInterval = () => z.number().min(0, 'must be between 0 and 1').max(1, 'must be between 0 and 1');

/** A count that fits a Postgres integer. */
export const count = (max = MAX_INT32) => z.int().min(0).max(max);

const MAX_DEPTH = 16;
const MAX_JSON_BYTES = 16 * 1024;

/** A free-form JSON object: storable text all the way down, at most 16 levels, and 16 KiB as Postgres writes it. */
export const jsonObject = () =>
  freeObject()
    .refine((value) => isStorable(value, MAX_DEPTH), {
      error: 'is nested too deeply or holds what cannot be stored',
      abort: true,
    })
    .refine(
      (value) => Buffer.byteLength(JSON.stringify(value, writeOut)) <= MAX_JSON_BYTES,
      `must have at most ${MAX_JSON_BYTES} bytes as JSON, with numbers written without an exponent`,
    );

/**
 * Replaces a number that JSON writes with an exponent by as many digits as it has without. Postgres writes it so: `1e308` takes 309
 * characters each time that it is read, and a page of events full of them took a hundred megabytes.
 */
function writeOut(_name: string, value: unknown): unknown {
  const [digits, exponent] = typeof value === 'number' ? String(value).split('e') : [];
  return digits === undefined || exponent === undefined ? value : digits + '0'.repeat(Math.abs(Number(exponent)));
}

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isStorableText(value);
  // A number such as 1e400 is parsed as Infinity, which JSON cannot represent.
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, item]) => isStorableText(key) && isStorable(item, depth - 1));
}

/** What staff do with an alert or an anomaly. No fact says it. */
export const UNTOUCHED = { acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null };
