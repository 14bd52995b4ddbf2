import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { eq } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { Collecting } from '../../contract/sites';
import type { Transaction } from '../../db/client';
import { integrations } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import type { Secrets } from '../platform/secrets';
import type { DomainContext } from './context';

// What holds for all sites of an integration: origins, signed identity, Global Privacy Control.

/** Names the integration that a sealed identity secret belongs to. It cannot be opened for any other. */
export const nameIdentitySecretContext = (integrationId: string) => `identity-secret:${integrationId}`;

/**
 * Opens a sealed identity secret as the key of an HMAC: the UTF-8 of the whole text. If it was sealed under another APP_SECRET,
 * returns random bytes: then no signature is valid, but one is still demanded.
 */
export function openIdentityKey(secrets: Secrets, integrationId: string, sealed: Uint8Array): Buffer {
  const secret = secrets.open(sealed, nameIdentitySecretContext(integrationId));
  return secret === null ? randomBytes(32) : Buffer.from(secret);
}

/** Reads what holds for the sites of the integration. Never the secret. */
export async function getCollecting({ db, integration }: DomainContext): Promise<Collecting> {
  const [row] = await db.orm.select().from(integrations).where(eq(integrations.id, integration.id));
  if (!row) throw new ApiError('NOT_FOUND', 'Integration not found');
  const { allowedOrigins, identitySecret, acceptsUnsignedUsers, mayIgnorePrivacyControl } = row;
  const hasIdentitySecret = identitySecret !== null;
  return { allowedOrigins, hasIdentitySecret, acceptsUnsignedUsers, mayIgnorePrivacyControl };
}

/**
 * Replaces the origins whose pages may send what they see. NOT_FOUND for an unknown integration. INVALID_BODY that names
 * `replaced` if the stored origins are others than those, because somebody has changed them since.
 */
export async function setAllowedOrigins(
  { db, actor }: AuditedContext,
  input: { integrationId: string; allowedOrigins: string[]; replaced?: string[] | undefined },
): Promise<{ allowedOrigins: string[] }> {
  const { integrationId, allowedOrigins, replaced } = input;
  await db.orm.transaction(async (tx) => {
    const before = (await lockIntegration(tx, integrationId)).allowedOrigins;
    if (isDeepStrictEqual(before, allowedOrigins)) return;
    if (replaced && !isDeepStrictEqual(before, replaced))
      throw new ApiError('INVALID_BODY', 'replaced: somebody has changed the origins since', { field: 'replaced' });
    await tx.update(integrations).set({ allowedOrigins }).where(eq(integrations.id, integrationId));
    const act = { action: 'OriginsChanged', integrationId, subjectId: integrationId } as const;
    await recordAct(tx, actor, { ...act, details: { before, after: allowedOrigins } });
  });
  return { allowedOrigins };
}

/**
 * Replaces the secret under which the customer's server signs the ids of users. Signatures under the old one are refused from
 * then on. The new secret is returned here and never shown again. NOT_FOUND for an unknown integration.
 */
export async function rotateIdentitySecret(
  { db, actor }: AuditedContext,
  secrets: Secrets,
  { integrationId }: { integrationId: string },
): Promise<{ identitySecret: string }> {
  // Base64url, because customers write it into environment files and shells.
  const identitySecret = `idsec_${randomBytes(32).toString('base64url')}`;
  const sealed = secrets.seal(identitySecret, nameIdentitySecretContext(integrationId));
  await db.orm.transaction(async (tx) => {
    const before = await lockIntegration(tx, integrationId);
    await tx.update(integrations).set({ identitySecret: sealed }).where(eq(integrations.id, integrationId));
    const act = { action: 'IdentitySecretRotated', integrationId, subjectId: integrationId } as const;
    await recordAct(tx, actor, { ...act, details: { isFirst: before.identitySecret === null } });
  });
  return { identitySecret };
}

/** Accepts or ignores users without a signature although the integration has an identity secret. NOT_FOUND for an unknown one. */
export async function setUnsignedUsers(
  { db, actor }: AuditedContext,
  input: { integrationId: string; acceptsUnsignedUsers: boolean },
): Promise<{ acceptsUnsignedUsers: boolean }> {
  const { integrationId, acceptsUnsignedUsers } = input;
  await db.orm.transaction(async (tx) => {
    const before = (await lockIntegration(tx, integrationId)).acceptsUnsignedUsers;
    if (before === acceptsUnsignedUsers) return;
    await tx.update(integrations).set({ acceptsUnsignedUsers }).where(eq(integrations.id, integrationId));
    const act = { action: 'UnsignedUsersChanged', integrationId, subjectId: integrationId } as const;
    await recordAct(tx, actor, { ...act, details: { before, after: acceptsUnsignedUsers } });
  });
  return { acceptsUnsignedUsers };
}

/** Permits or forbids tags to collect in spite of Global Privacy Control. */
export async function setPrivacyControl(
  { db, actor }: AuditedContext,
  input: { integrationId: string; mayIgnorePrivacyControl: boolean },
): Promise<{ mayIgnorePrivacyControl: boolean }> {
  const { integrationId, mayIgnorePrivacyControl } = input;
  await db.orm.transaction(async (tx) => {
    const before = (await lockIntegration(tx, integrationId)).mayIgnorePrivacyControl;
    if (before === mayIgnorePrivacyControl) return;
    await tx.update(integrations).set({ mayIgnorePrivacyControl }).where(eq(integrations.id, integrationId));
    const act = { action: 'PrivacyControlChanged', integrationId, subjectId: integrationId } as const;
    await recordAct(tx, actor, { ...act, details: { before, after: mayIgnorePrivacyControl } });
  });
  return { mayIgnorePrivacyControl };
}

/** Reads and locks an integration, so that a concurrent change waits and the second one's `before` is true. */
async function lockIntegration(tx: Transaction, integrationId: string) {
  const [row] = await tx.select().from(integrations).where(eq(integrations.id, integrationId)).for('no key update');
  if (!row) throw new ApiError('NOT_FOUND', 'Integration not found');
  return row;
}
