import { randomBytes } from 'node:crypto';
import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { Site } from '../../contract/sites';
import type { Plan } from '../../contract/tiers';
import type { Database } from '../../db/client';
import { integrations, sites } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import { createId } from '../platform/ids';
import type { Secrets } from '../platform/secrets';
import { openIdentityKey } from './collecting';

const PREFIX = 'site_';
/** 144 random bits: 24 characters of base64url. */
const BODY_BYTES = 18;
const SITE_KEY = /^site_[\w-]{24}$/;

/** What the collector needs to know of the site that a page names. */
export interface FoundSite {
  siteId: string;
  integrationId: string;
  plan: Plan;
  isRevoked: boolean;
  /** Exact origins as browsers write them. Empty: nothing is collected. */
  allowedOrigins: string[];
  /** The key of the HMAC over user ids. Null: users need no signature. */
  identitySecret: Buffer | null;
  /** Whether users without a signature count in spite of an identity secret. */
  acceptsUnsignedUsers: boolean;
  /** Whether a tag may ask to collect in spite of Global Privacy Control. */
  mayIgnorePrivacyControl: boolean;
  /** When the first batch of the site was kept; the collector writes it (`markReceiving`). */
  firstBatchAt: string | null;
}

interface SiteRow extends Omit<FoundSite, 'identitySecret'> {
  sealed: Uint8Array | null;
}

/** Finds the site of a key in one statement, revoked or not. Returns null for an unknown or malformed key. */
export async function findSite(db: Database, secrets: Secrets, siteKey: string): Promise<FoundSite | null> {
  if (!SITE_KEY.test(siteKey)) return null;
  const [row] = await db.query<SiteRow>(FIND, [siteKey]);
  if (!row) return null;
  const { sealed, ...site } = row;
  return { ...site, identitySecret: sealed && openIdentityKey(secrets, site.integrationId, sealed) };
}

const FIND = `
  select s.id as "siteId", s.integration_id as "integrationId", i.plan, s.revoked_at is not null as "isRevoked",
         i.allowed_origins as "allowedOrigins", i.identity_secret as sealed,
         i.accepts_unsigned_users as "acceptsUnsignedUsers",
         i.may_ignore_privacy_control as "mayIgnorePrivacyControl", s.first_batch_at as "firstBatchAt"
    from sites s join integrations i on i.id = s.integration_id
   where s.site_key = $1`;

/** Records that a batch of the site was kept. Only the first call changes the row. */
export async function markReceiving(db: Database, siteId: string): Promise<void> {
  await db.query('update sites set first_batch_at = now() where id = $1 and first_batch_at is null', [siteId]);
}

/** Creates a site. Its key is public. NOT_FOUND for an unknown integration. */
export async function createSite(
  { db, actor }: AuditedContext,
  input: { integrationId: string; name: string },
): Promise<{ id: string; siteKey: string }> {
  const { integrationId, name } = input;
  const id = createId('ste');
  const siteKey = PREFIX + randomBytes(BODY_BYTES).toString('base64url');
  await db.orm.transaction(async (tx) => {
    const [integration] = await tx
      .select({ id: integrations.id })
      .from(integrations)
      .where(eq(integrations.id, integrationId));
    if (!integration) throw new ApiError('NOT_FOUND', 'Integration not found');
    await tx.insert(sites).values({ id, integrationId, siteKey, name });
    await recordAct(tx, actor, { action: 'SiteCreated', integrationId, subjectId: id, details: { name, siteKey } });
  });
  return { id, siteKey };
}

/**
 * Revokes a site: nothing of its pages is kept from then on. A repeat keeps the first `revokedAt`. NOT_FOUND for an unknown
 * id, or for a site of another integration if `integrationId` is given.
 */
export async function revokeSite(
  { db, actor }: AuditedContext,
  input: { id: string; integrationId?: string },
): Promise<{ id: string; revokedAt: string }> {
  const isSite = and(
    eq(sites.id, input.id),
    input.integrationId === undefined ? undefined : eq(sites.integrationId, input.integrationId),
  );
  await db.orm.transaction(async (tx) => {
    const [revoked] = await tx
      .update(sites)
      .set({ revokedAt: sql`now()` })
      .where(and(isSite, isNull(sites.revokedAt)))
      .returning();
    if (!revoked) return;
    const { integrationId, name, siteKey } = revoked;
    const act = { action: 'SiteRevoked', integrationId, subjectId: input.id } as const;
    await recordAct(tx, actor, { ...act, details: { name, siteKey } });
  });
  const [site] = await db.orm.select({ revokedAt: sites.revokedAt }).from(sites).where(isSite);
  if (!site?.revokedAt) throw new ApiError('NOT_FOUND', 'Site not found');
  return { id: input.id, revokedAt: site.revokedAt };
}

/** Lists the sites of an integration, newest first, including revoked ones. */
export async function listSites(db: Database, integrationId: string): Promise<Site[]> {
  const rows = await db.orm
    .select()
    .from(sites)
    .where(eq(sites.integrationId, integrationId))
    .orderBy(desc(sites.createdAt), desc(sites.id));
  return rows.map(showSite);
}

/** Lists the sites of all integrations, oldest first. */
export async function listAllSites(db: Database): Promise<(Site & { integrationId: string })[]> {
  const rows = await db.orm.select().from(sites).orderBy(sites.createdAt, sites.id);
  return rows.map((row) => ({ ...showSite(row), integrationId: row.integrationId }));
}

const showSite = ({ id, siteKey, name, createdAt, revokedAt, firstBatchAt }: typeof sites.$inferSelect): Site => ({
  ...{ id, siteKey, name, createdAt, revokedAt, firstReceivedAt: firstBatchAt },
});
