import { createHash, randomBytes } from 'node:crypto';
import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import { type ApiKey, DEFAULT_KEY_SCOPES, type KeyScope } from '../../contract/integrations';
import type { Database } from '../../db/client';
import { apiKeys, integrations } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import { createId } from '../platform/ids';
import type { DomainContext } from './context';

const PREFIX = 'aik_v1_';
/** 240 random bits: 40 characters of base64url. */
const BODY_BYTES = 30;
const KEY_LENGTH = PREFIX.length + 40;

/** Whether a text has the form of a key. */
export const isWellFormed = (key: string) => key.length === KEY_LENGTH && key.startsWith(PREFIX);

/** Converts a key to what is stored of it. */
export const hashKey = (key: string) => createHash('sha256').update(key).digest();
/** Writes the part of a key that may be shown. */
export const maskKey = (key: { first4: string; last4: string }) => `${PREFIX}${key.first4}…${key.last4}`;

/** A SQL condition: a request with the key `k` is answered. */
export const IS_USABLE = 'k.revoked_at is null and coalesce(k.expires_at > now(), true)';

/** Creates a key. The key itself is returned here and never shown again. `expiresInDays` null: it never expires. */
export async function mintKey(
  { db, actor }: AuditedContext,
  input: { integrationId: string; name: string; scopes?: KeyScope[]; expiresInDays?: number | null },
): Promise<{ id: string; key: string }> {
  const body = randomBytes(BODY_BYTES).toString('base64url');
  const key = PREFIX + body;
  const id = createId('key');
  await db.orm.transaction(async (tx) => {
    const [integration] = await tx
      .select({ id: integrations.id })
      .from(integrations)
      .where(eq(integrations.id, input.integrationId));
    if (!integration) throw new ApiError('NOT_FOUND', 'Integration not found');
    const { integrationId, name, scopes = DEFAULT_KEY_SCOPES, expiresInDays = null } = input;
    const shown = { first4: body.slice(0, 4), last4: body.slice(-4) };
    const [minted] = await tx
      .insert(apiKeys)
      .values({
        ...{ id, integrationId, name, hash: hashKey(key), ...shown, scopes },
        expiresAt: sql`now() + ${expiresInDays}::int * interval '1 day'`,
      })
      .returning({ expiresAt: apiKeys.expiresAt });
    const act = { action: 'KeyMinted', integrationId, subjectId: id } as const;
    await recordAct(tx, actor, { ...act, details: { name, masked: maskKey(shown), scopes, ...minted } });
  });
  return { id, key };
}

/**
 * Revokes a key. The next request with it fails. A repeat keeps the first `revokedAt`. NOT_FOUND for an unknown id, or for a
 * key of another integration if `integrationId` is given.
 */
export async function revokeKey(
  { db, actor }: AuditedContext,
  input: { id: string; integrationId?: string },
): Promise<{ id: string; revokedAt: string }> {
  const isKey = and(
    eq(apiKeys.id, input.id),
    input.integrationId === undefined ? undefined : eq(apiKeys.integrationId, input.integrationId),
  );
  await db.orm.transaction(async (tx) => {
    const [revoked] = await tx
      .update(apiKeys)
      .set({ revokedAt: sql`now()` })
      .where(and(isKey, isNull(apiKeys.revokedAt)))
      .returning();
    if (!revoked) return;
    const { integrationId, name } = revoked;
    const act = { action: 'KeyRevoked', integrationId, subjectId: input.id } as const;
    await recordAct(tx, actor, { ...act, details: { name, masked: maskKey(revoked) } });
  });
  const [key] = await db.orm.select({ revokedAt: apiKeys.revokedAt }).from(apiKeys).where(isKey);
  if (!key?.revokedAt) throw new ApiError('NOT_FOUND', 'Key not found');
  return { id: input.id, revokedAt: key.revokedAt };
}

/** Lists the keys of an integration, newest first, including revoked and expired ones. */
export async function listKeys({ db, integration }: DomainContext): Promise<ApiKey[]> {
  const rows = await db.orm
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.integrationId, integration.id))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id));
  return rows.map(({ id, name, scopes, createdAt, lastUsedAt, expiresAt, revokedAt, ...key }) => ({
    ...{ id, name, masked: maskKey(key), scopes, createdAt, lastUsedAt, expiresAt, revokedAt },
  }));
}

/** Lists the masked form of each integration's newest key that is neither revoked nor expired. */
export async function listMaskedKeys(db: Database): Promise<Map<string, string>> {
  const rows = await db.query<{ integrationId: string; first4: string; last4: string }>(
    `select k.integration_id as "integrationId", k.first4, k.last4 from api_keys k where ${IS_USABLE} order by k.created_at, k.id`,
    [],
  );
  return new Map(rows.map((row) => [row.integrationId, maskKey(row)]));
}
