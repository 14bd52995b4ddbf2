import {
  AUTOMATION_MARKS,
  BEACON_VERSION,
  type Beacon,
  type BeaconEnvironment,
  type BeaconUser,
  CLIPBOARD_KINDS,
  ELEMENT_ROLES,
  EVENT_FIELDS,
  type EventCode,
  INPUT_TYPES,
  KEY_CLASSES,
  MAX_BEACON_ITEMS,
  MAX_EVENT_VALUES,
  MAX_SESSION_BATCHES,
  MAX_WRITTEN_DOCUMENT_LENGTH,
  MAX_WRITTEN_DOCUMENTS,
  PAGE_CAUSES,
  POINTERS,
} from '../../contract/beacon';
import { isObject, isPathId, isStorableText, isTextOfLength, isWebUrl, showsSomething } from '../../contract/fields';

// Decodes what a page sent. Anyone can send anything, and a batch has thousands of numbers, so every field is checked
// by hand, and only own properties are read.

type Bounds = readonly [min: number, max: number];

const MAX_MAGNITUDE = 2 ** 40;
const ANY: Bounds = [-MAX_MAGNITUDE, MAX_MAGNITUDE];
const COUNT: Bounds = [0, 2 ** 31 - 1];
/** A number that is −1 where it is unknown or there is none. */
const OPTIONAL: Bounds = [-1, 2 ** 31 - 1];
const BIT: Bounds = [0, 1];
const FLAGS: Bounds = [0, 2 ** 16 - 1];
const indexOf = (words: readonly unknown[]): Bounds => [0, words.length - 1];

type FieldName = (typeof EVENT_FIELDS)[EventCode][number];

const FIELD_BOUNDS: Record<FieldName, Bounds> = {
  ...{ dx: ANY, dy: ANY, x10: ANY, y10: ANY, offsetX10: ANY, offsetY10: ANY, screenX10: ANY, screenY10: ANY },
  ...{ y: ANY, deltaY: ANY, held10: ANY, width: COUNT, height: COUNT },
  ...{ count: COUNT, coalesced: COUNT, mismatched: COUNT, fractional: COUNT, detail: COUNT, touches: COUNT },
  ...{ slot: OPTIONAL, field: OPTIONAL, insertedLength: OPTIONAL, valueLength: OPTIONAL, length: OPTIONAL },
  ...{ state: BIT, persisted: BIT, phase: BIT, flags: FLAGS },
  ...{ button: [-1, 31], mode: [0, 2], pressurePercent: [0, 100], page: [0, MAX_BEACON_ITEMS - 1] },
  ...{ document: [0, MAX_WRITTEN_DOCUMENTS - 1], fromEnd: OPTIONAL },
  ...{ pointer: indexOf(POINTERS), role: indexOf(ELEMENT_ROLES), class: indexOf(KEY_CLASSES) },
  ...{ type: indexOf(INPUT_TYPES), kind: indexOf(CLIPBOARD_KINDS), cause: indexOf(PAGE_CAUSES) },
};

interface Layout {
  bounds: Bounds[];
  /** Where an index of a page, and of a document that is written, stands among the fields; −1 for none. */
  pageAt: number;
  documentAt: number;
}

/** The layouts of the events by their code. */
const LAYOUTS: Layout[] = [];
for (const [code, names] of Object.entries(EVENT_FIELDS)) {
  const fields: readonly FieldName[] = names;
  LAYOUTS[Number(code)] = {
    bounds: fields.map((name) => FIELD_BOUNDS[name]),
    ...{ pageAt: fields.indexOf('page'), documentAt: fields.indexOf('document') },
  };
}

/** Events are noted a little after they happen, so their times may go back, but not by more than a minute. */
const MAX_STEP_BACK_10 = 600_000;
const MAX_WALL_MS = 8.64e15;
const MAX_PAGE_URL_LENGTH = 2_048;
const MAX_BRANDS_LENGTH = 256;

const SITE_KEY = /^site_[A-Za-z0-9_-]{24}$/;
const ID_128 = /^[0-9a-f]{32}$/;
const ID_64 = /^[0-9a-f]{16}$/;
const TOKEN = /^[0-9A-Za-z._-]{1,256}$/;
const USER_HASH = /^[0-9a-f]{64}$/;

/** Reads a beacon's content. Returns null if it is not well-formed. Never throws, linear time. */
export function readBeacon(value: unknown): Beacon | null {
  if (!isObject(value)) return null;
  const v = own(value, 'v');
  const k = own(value, 'k');
  const s = own(value, 's');
  const d = own(value, 'd');
  const n = own(value, 'n');
  const c = own(value, 'c');
  const ev = own(value, 'ev');
  if (v !== BEACON_VERSION || !isMatch(k, SITE_KEY) || !isMatch(s, ID_128) || !isMatch(d, ID_64)) return null;
  if (!isInteger(n, [0, MAX_SESSION_BATCHES - 1]) || !isClock(c)) return null;
  const p = own(value, 'p');
  if (p !== undefined && !isPages(p)) return null;
  const w = own(value, 'w');
  if (w !== undefined && !isWrittenDocuments(w)) return null;
  if (!isEvents(ev, p === undefined ? 0 : p.length, w === undefined ? 0 : w.length)) return null;
  const beacon: Beacon = { v, k, s, d, n, c: [c[0], readWallTime(c[1])], ev };
  if (p !== undefined) beacon.p = p;
  if (w !== undefined) beacon.w = w.map((id) => (isText(id, 0, MAX_WRITTEN_DOCUMENT_LENGTH) ? id : ''));
  return readOptional(value, beacon) ? beacon : null;
}

/** Adds the optional members to a beacon. Returns false if one is not well-formed. */
function readOptional(value: object, beacon: Beacon): boolean {
  const e = own(value, 'e');
  if (e !== undefined) {
    const environment = readEnvironment(e);
    if (environment === null) return false;
    beacon.e = environment;
  }
  const u = own(value, 'u');
  if (u === null) beacon.u = u;
  else if (u !== undefined) {
    if (!isObject(u)) return false;
    const user = readUser(u);
    // Somebody else than the device's user may be there, so it is kept that the page names anybody.
    if (user !== null || own(u, 'id')) beacon.u = user;
  }
  const m = own(value, 'm');
  if (m !== undefined) {
    if (!isIntegers(m, 0, MAX_BEACON_ITEMS, indexOf(AUTOMATION_MARKS))) return false;
    beacon.m = m;
  }
  const l = own(value, 'l');
  if (l !== undefined) {
    if (!isIntegers(l, 2, 2, COUNT)) return false;
    beacon.l = [l[0]!, l[1]!];
  }
  const t = own(value, 't');
  if (t !== undefined) {
    if (!isMatch(t, TOKEN)) return false;
    beacon.t = t;
  }
  const i = own(value, 'i');
  if (i !== undefined) {
    if (!isMatch(i, ID_128)) return false;
    beacon.i = i;
  }
  const g = own(value, 'g');
  const x = own(value, 'x');
  if ((g !== undefined && g !== 1) || (x !== undefined && x !== 1)) return false;
  if (g === 1) beacon.g = g;
  if (x === 1) beacon.x = x;
  return true;
}

function readEnvironment(value: unknown): BeaconEnvironment | null {
  if (!isObject(value)) return null;
  const w = own(value, 'w');
  const v = own(value, 'v');
  const h = own(value, 'h');
  const b = own(value, 'b');
  const q = own(value, 'q');
  const r = own(value, 'r');
  if (w !== 0 && w !== 1 && w !== 2) return null;
  if (!isIntegers(v, 10, 10, ANY) || !isIntegers(h, 4, 4, OPTIONAL)) return null;
  if (!isInteger(b, FLAGS) || !isIntegers(q, 2, 2, OPTIONAL)) return null;
  if (!isText(r, 0, MAX_BRANDS_LENGTH)) return null;
  return { w, v: v as BeaconEnvironment['v'], h: h as BeaconEnvironment['h'], b, q: [q[0]!, q[1]!], r };
}

/** A user whom nobody sees would be a row that nobody notices, and a link without words. */
const isVisible = (value: unknown, max: number): value is string => isText(value, 1, max) && showsSomething(value);

/** Which user fields the fact `sessionCorrelated` accepts. */
const USER_FIELDS: Record<Exclude<keyof BeaconUser, 'lms'>, (value: unknown) => value is string> = {
  id: (value): value is string => isVisible(value, 256) && isPathId(value),
  name: (value) => isVisible(value, 512),
  email: (value) => isText(value, 1, 320),
  url: (value): value is string => isText(value, 1, 8_192) && isWebUrl(value),
  hash: (value) => isMatch(value, USER_HASH),
  context: (value) => isText(value, 1, 256),
};

/** Leaves out malformed fields, and the user without a valid id: these come from the page, the rest of a batch does not. */
function readUser(value: object): BeaconUser | null {
  const user: Partial<BeaconUser> = {};
  for (const [name, isValid] of Object.entries(USER_FIELDS)) {
    const field = own(value, name);
    if (isValid(field)) user[name as keyof typeof USER_FIELDS] = field;
  }
  if (own(value, 'lms') === 1) user.lms = 1;
  return user.id === undefined ? null : { ...user, id: user.id };
}

/** Whether all events are known, complete and within bounds. */
function isEvents(value: unknown, pages: number, documents: number): value is number[] {
  if (!Array.isArray(value) || value.length > MAX_EVENT_VALUES) return false;
  let time10 = 0;
  let latest10 = 0;
  let at = 0;
  while (at < value.length) {
    const layout = isInteger(value[at], ANY) ? LAYOUTS[value[at]] : undefined;
    const step10: unknown = value[at + 1];
    if (layout === undefined || !isInteger(step10, ANY)) return false;
    time10 += step10;
    if (time10 < latest10 - MAX_STEP_BACK_10 || time10 > MAX_MAGNITUDE) return false;
    latest10 = Math.max(latest10, time10);
    at += 2;
    // Values that are missing at the end are undefined, so no integers.
    const fieldsAt = at;
    const { bounds } = layout;
    for (let i = 0; i < bounds.length; i++) if (!isInteger(value[at++], bounds[i]!)) return false;
    if (layout.pageAt >= 0 && value[fieldsAt + layout.pageAt] >= pages) return false;
    if (layout.documentAt >= 0 && value[fieldsAt + layout.documentAt] >= documents) return false;
  }
  return true;
}

function isPages(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length > MAX_BEACON_ITEMS) return false;
  for (let i = 0; i < value.length; i++) {
    if (!isText(value[i], 1, MAX_PAGE_URL_LENGTH) || !isWebUrl(value[i])) return false;
  }
  return true;
}

/** The ids come from the page, the rest of a batch does not: an id that cannot be kept is read as none. */
function isWrittenDocuments(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length > MAX_WRITTEN_DOCUMENTS) return false;
  for (let i = 0; i < value.length; i++) if (typeof value[i] !== 'string') return false;
  return true;
}

const isClock = (value: unknown): value is [number, unknown] =>
  Array.isArray(value) && value.length === 2 && isFiniteWithin(value[0], [0, MAX_MAGNITUDE]);

/** A page can replace `Date`: a wall time that is none is read as 0, which the pixel says where there is none. */
const readWallTime = (value: unknown): number => (isFiniteWithin(value, [-MAX_WALL_MS, MAX_WALL_MS]) ? value : 0);

function isIntegers(value: unknown, min: number, max: number, bounds: Bounds): value is number[] {
  if (!Array.isArray(value) || value.length < min || value.length > max) return false;
  for (let i = 0; i < value.length; i++) if (!isInteger(value[i], bounds)) return false;
  return true;
}

const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;

const isMatch = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value);

const isText = (value: unknown, min: number, max: number): value is string =>
  typeof value === 'string' && isTextOfLength(value, min, max) && isStorableText(value);

const isFiniteWithin = (value: unknown, bounds: Bounds): value is number =>
  typeof value === 'number' && value >= bounds[0] && value <= bounds[1];

const isInteger = (value: unknown, bounds: Bounds): value is number =>
  isFiniteWithin(value, bounds) && Number.isSafeInteger(value);
