import type { Database } from '../../db/client';
import { DatabaseBusyError } from '../../db/errors';
import { type FoundSite, findSite, markReceiving } from '../domain/sites';
import type { Secrets } from '../platform/secrets';

/** How long a site is used without asking the database again: a revoked key is refused after this time. */
const FRESH_MS = 2_000;
/** Sites, and keys that name none, that are kept. */
const MAX_KEPT = 10_000;
/** How many keys may be looked up at a time, so that invented keys cannot take all connections. Those of sites are looked up again anyway. */
const MAX_LOOK_UPS = 32;

interface Kept {
  site: Promise<FoundSite | null>;
  /** On the monotonic clock. */
  atMs: number;
  /** Whether a site was found. */
  isSite: boolean;
}

export interface SiteFinder {
  /** Finds the site of a key. Rejects if the database is away or too many keys are being looked up. */
  find(siteKey: string): Promise<FoundSite | null>;
  /** Records that a batch of the site was kept. Does not wait, and tries again with a later batch if it fails. */
  noteReceiving(site: FoundSite): void;
}

/** Creates the process's site finder, with a short memory of bounded size. */
export function createSiteFinder(db: Database, secrets: Secrets): SiteFinder {
  const kept = new Map<string, Kept>();
  const receiving = new Set<string>();
  let lookUps = 0;

  async function lookUp(siteKey: string, isSite: boolean): Promise<FoundSite | null> {
    if (lookUps >= MAX_LOOK_UPS && !isSite) throw new DatabaseBusyError('too many site keys are being looked up');
    lookUps++;
    try {
      return await findSite(db, secrets, siteKey);
    } finally {
      lookUps--;
    }
  }

  return {
    find(siteKey) {
      const known = kept.get(siteKey);
      if (known && performance.now() - known.atMs < FRESH_MS) return known.site;
      const asked: Kept = { site: lookUp(siteKey, known?.isSite ?? false), atMs: performance.now(), isSite: false };
      kept.delete(siteKey);
      if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
      kept.set(siteKey, asked);
      // A failed look-up is not kept.
      asked.site.then(
        (site) => {
          asked.isSite = site !== null;
        },
        () => kept.get(siteKey) === asked && kept.delete(siteKey),
      );
      return asked.site;
    },
    noteReceiving({ siteId, firstBatchAt }) {
      if (firstBatchAt !== null || receiving.has(siteId)) return;
      receiving.add(siteId);
      if (receiving.size > MAX_KEPT) receiving.clear();
      markReceiving(db, siteId).catch(() => receiving.delete(siteId));
    },
  };
}

/** Why nothing of a batch is kept although it is well-formed. The page is not told. */
export type Refusal = 'unknown-key' | 'revoked-key' | 'no-origins' | 'origin' | 'privacy-control' | 'token';

export interface AccessRequest {
  /** The header `Origin`, which browsers set and pages cannot change. */
  origin: string | null;
  /** The browser says that the visitor objects (Global Privacy Control). */
  hasPrivacyControl: boolean;
  /** The tag asks to collect nevertheless. */
  ignoresPrivacyControl: boolean;
}

/** Says why a page may not send to a site. Null if it may. */
export function findRefusal(site: FoundSite | null, request: AccessRequest): Refusal | null {
  if (!site) return 'unknown-key';
  if (site.isRevoked) return 'revoked-key';
  if (site.allowedOrigins.length === 0) return 'no-origins';
  if (request.origin === null || !site.allowedOrigins.includes(request.origin)) return 'origin';
  const mayIgnore = site.mayIgnorePrivacyControl && request.ignoresPrivacyControl;
  return request.hasPrivacyControl && !mayIgnore ? 'privacy-control' : null;
}
