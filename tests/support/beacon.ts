import { randomBytes } from 'node:crypto';
import {
  BEACON_VERSION,
  type Beacon,
  type BeaconAnswer,
  type BeaconEnvironment,
  EventCode,
} from '../../contract/beacon';
import type { Database } from '../../db/client';
import { asOperator } from '../../server/audit/acts';
import type { Collector } from '../../server/collector/collector';
import { setAllowedOrigins } from '../../server/domain/collecting';
import { createSite } from '../../server/domain/sites';
import { CHROME } from './facts';

// Pages as the collector sees them: beacons made by hand.

export const PAGE_ORIGIN = 'https://lms.example.edu';
export const PAGE_URL = `${PAGE_ORIGIN}/courses/42/quizzes/1`;

/** The environment of an ordinary browser. */
export const ORDINARY: BeaconEnvironment = {
  ...{ w: 0, v: [1280, 800, 1280, 700, 1280, 800, 800, 0, 0, 1000], h: [8, 8, 0, 5], b: 2 + 8, q: [0, 0] },
  r: 'Chromium 142',
};
/** The environment of a browser that says itself that a program drives it. */
export const DRIVEN: BeaconEnvironment = { ...ORDINARY, w: 1 };

/** Events on the wire. The first of a batch says its time since the document's origin, in tenths of a millisecond. */
export const pageShown = (at10: number) => [EventCode.Page, at10, 0, 0];
export const pageLeft = (at10: number) => [EventCode.Leave, at10, 0];
/** Moves and a summary of them. */
export const moved = (at10: number, count: number) => [
  ...Array.from({ length: count }, (_, n) => [EventCode.Move, n === 0 ? at10 : 160, 3 + (n % 5), 2 - (n % 3)]).flat(),
  ...[EventCode.MoveSummary, 10, 2 * count, count, 0, 0],
];
/** Letters that are typed: each key is held for 90 ms and follows the last one after 60 to 260 ms. */
export const typed = (at10: number, count: number) =>
  Array.from({ length: count }, (_, n) => [
    ...[EventCode.KeyDown, n === 0 ? at10 : 600 + ((n * 7919) % 2000), 0, n % 10, 1 + 2],
    ...[EventCode.KeyUp, 900, n % 10, 1],
  ]).flat();

export interface CollectReply {
  status: number;
  headers: Headers;
  text: string;
  body: (BeaconAnswer & { error?: { code: string; message: string } }) | null;
}

/** Posts a body to `/collect` as a page does. */
export async function postBeacon(
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<CollectReply> {
  const response = await fetch(`${url}/collect`, {
    method: 'POST',
    headers: { origin: PAGE_ORIGIN, 'content-type': 'text/plain;charset=UTF-8', 'user-agent': CHROME, ...headers },
    body: body as BodyInit,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
}

/** A tab of a browser on a page with the tag. */
export class Tab {
  readonly nonce = randomBytes(16).toString('hex');
  document = randomBytes(8).toString('hex');
  sequence = 0;
  token: string | undefined;
  device: string | undefined = randomBytes(16).toString('hex');
  readonly #openedAt = performance.now();

  constructor(
    readonly site: Pick<PageSite, 'url' | 'siteKey'>,
    readonly environment: BeaconEnvironment = ORDINARY,
  ) {}

  /** The time since the document's origin, in tenths of a millisecond. */
  get now10(): number {
    return Math.round((performance.now() - this.#openedAt) * 10);
  }

  /** Makes the next beacon of the document. */
  make(content: Partial<Beacon> = {}): Beacon {
    const n = this.sequence++;
    return {
      ...{ v: BEACON_VERSION, k: this.site.siteKey, s: this.nonce, d: this.document, n },
      ...{ c: [this.now10 / 10, Date.now()] },
      ...(this.device === undefined ? {} : { i: this.device }),
      ...(this.token === undefined ? {} : { t: this.token }),
      ...(n === 0 ? { e: this.environment, p: [PAGE_URL], ev: pageShown(0) } : { ev: [EventCode.Alive, this.now10] }),
      ...content,
    };
  }

  /** Sends a beacon and keeps the token of the answer. */
  async send(content: Partial<Beacon> = {}, headers: Record<string, string> = {}): Promise<CollectReply> {
    return this.post(this.make(content), headers);
  }

  /** Sends a beacon that was made before, perhaps to another server. */
  async post(beacon: Beacon, headers: Record<string, string> = {}, url = this.site.url): Promise<CollectReply> {
    const reply = await postBeacon(url, JSON.stringify(beacon), headers);
    this.token = reply.body?.token ?? this.token;
    return reply;
  }

  /** Has a collector answer the next beacon without a server, and keeps the token of the answer. */
  async hand(collector: Collector, content: Partial<Beacon> = {}) {
    const answer = await collectDirectly(collector, this.make(content));
    if ('answer' in answer) this.token ??= answer.answer.token;
  }

  /** Loads another page in the same tab. */
  navigate() {
    this.document = randomBytes(8).toString('hex');
    this.sequence = 0;
  }
}

/** Has a collector answer a beacon without a server. */
export const collectDirectly = (collector: Collector, beacon: Beacon) =>
  collector.collect({
    ...{ origin: PAGE_ORIGIN, userAgent: 'test', hasPrivacyControl: false, clientAddress: '192.0.2.1', place: null },
    readBody: async () => Buffer.from(JSON.stringify(beacon)),
  });

export interface PageSite {
  integrationId: string;
  key: string;
  siteId: string;
  siteKey: string;
  url: string;
}

/** Lets pages of some origins send to a tenant. */
export async function openPageSite(
  { db, url }: { db: Database; url: string },
  tenant: { id: string; key: string },
  allowedOrigins: string[] = [PAGE_ORIGIN],
): Promise<PageSite> {
  const context = asOperator(db);
  const integrationId = tenant.id;
  if (allowedOrigins.length > 0) await setAllowedOrigins(context, { integrationId, allowedOrigins });
  const { id: siteId, siteKey } = await createSite(context, { integrationId, name: 'test' });
  return { integrationId, key: tenant.key, siteId, siteKey, url };
}

/** Makes the open sessions of an integration due. The column holds whole milliseconds, so the time of now may be rounded up. */
export const makeSessionsDue = ({ query }: Pick<Database, 'query'>, { integrationId }: { integrationId: string }) =>
  query("update collected_sessions set due_at = now() - interval '1 ms' where integration_id = $1", [integrationId]);
