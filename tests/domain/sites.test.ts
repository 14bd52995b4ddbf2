import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { originsInput } from '../../contract/integrations';
import { type AuditedContext, asOperator } from '../../server/audit/acts';
import { listLatestAuditEntries } from '../../server/domain/audit-entries';
import {
  rotateIdentitySecret,
  setAllowedOrigins,
  setPrivacyControl,
  setUnsignedUsers,
} from '../../server/domain/collecting';
import { createIntegration } from '../../server/domain/integrations';
import { createSite, findSite, listSites, markReceiving, revokeSite } from '../../server/domain/sites';
import { createSecrets } from '../../server/platform/secrets';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { recordStatements } from '../support/statements';

// Sites, and what holds for all sites of an integration.

const ORIGIN = 'https://lms.example.edu';
const secrets = createSecrets(randomBytes(32));
let database: TestDatabase;
let operator: AuditedContext;
let integrationId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  operator = asOperator(database.db);
});
afterAll(() => database.drop());
beforeEach(async () => {
  integrationId = (await createIntegration(operator, { name: 'own', plan: 'pro', allowedOrigins: [] })).id;
});

const find = (siteKey: string) => findSite(database.db, secrets, siteKey);
const create = (name = 'Campus') => createSite(operator, { integrationId, name });
async function listActs() {
  const entries = await listLatestAuditEntries(database.db, { integrationId, limit: 100 });
  return entries.reverse().slice(1);
}

describe('a site', () => {
  it('is found by its key, with what holds for its integration, in one statement', async () => {
    const { id, siteKey } = await create();
    expect(siteKey).toMatch(/^site_[\w-]{24}$/);
    const found = {
      ...{ siteId: id, integrationId, plan: 'pro', isRevoked: false, allowedOrigins: [], identitySecret: null },
      ...{ acceptsUnsignedUsers: false, mayIgnorePrivacyControl: false, firstBatchAt: null },
    };
    const recorder = recordStatements(database.db);
    expect(await find(siteKey)).toEqual(found);
    expect(recorder.take()).toHaveLength(1);
    await setAllowedOrigins(operator, { integrationId, allowedOrigins: [ORIGIN] });
    await setPrivacyControl(operator, { integrationId, mayIgnorePrivacyControl: true });
    await markReceiving(database.db, id);
    const received = await find(siteKey);
    expect(received).toEqual({
      ...{ ...found, allowedOrigins: [ORIGIN], mayIgnorePrivacyControl: true },
      firstBatchAt: expect.stringMatching(/Z$/),
    });
    await markReceiving(database.db, id);
    expect(await find(siteKey)).toEqual(received);
  });

  it.each(['', 'site_', `site_${'a'.repeat(24)}`, `site_${'a'.repeat(23)}\0`, `site_${'a'.repeat(5_000)}`, 'aik_v1_x'])(
    'is not found by %j',
    async (siteKey) => {
      expect(await find(siteKey)).toBeNull();
    },
  );

  it('stays findable after it is revoked, and keeps the first time', async () => {
    const { id, siteKey } = await create();
    const revoked = await revokeSite(operator, { id });
    expect(await revokeSite(operator, { id, integrationId })).toEqual(revoked);
    expect(await find(siteKey)).toMatchObject({ isRevoked: true });
    expect(await listSites(database.db, integrationId)).toEqual([
      { id, siteKey, name: 'Campus', createdAt: expect.any(String), firstReceivedAt: null, ...pickTime(revoked) },
    ]);
    expect((await listActs()).map(({ action, subjectId, details }) => ({ action, subjectId, details }))).toEqual([
      { action: 'SiteCreated', subjectId: id, details: { name: 'Campus', siteKey } },
      { action: 'SiteRevoked', subjectId: id, details: { name: 'Campus', siteKey } },
    ]);
  });
  const pickTime = ({ revokedAt }: { revokedAt: string }) => ({ revokedAt });

  it('belongs to an integration: an unknown one has none, another one cannot revoke it', async () => {
    const { id, siteKey } = await create();
    const other = await createIntegration(operator, { name: 'other', plan: 'free', allowedOrigins: [] });
    await expect(createSite(operator, { integrationId: 'int_x', name: 'x' })).rejects.toThrow('Integration not found');
    await expect(revokeSite(operator, { id, integrationId: other.id })).rejects.toThrow('Site not found');
    await expect(revokeSite(operator, { id: 'ste_x' })).rejects.toThrow('Site not found');
    expect(await find(siteKey)).toMatchObject({ isRevoked: false });
    expect(await listSites(database.db, other.id)).toEqual([]);
  });
});

describe('allowed origins', () => {
  it('are replaced as a whole; the same again leaves no entry', async () => {
    const set = (allowedOrigins: string[]) => setAllowedOrigins(operator, { integrationId, allowedOrigins });
    expect(await set([ORIGIN])).toEqual({ allowedOrigins: [ORIGIN] });
    await set([ORIGIN]);
    await set([]);
    expect((await listActs()).map(({ action, details }) => [action, details])).toEqual([
      ['OriginsChanged', { before: [], after: [ORIGIN] }],
      ['OriginsChanged', { before: [ORIGIN], after: [] }],
    ]);
    await expect(setAllowedOrigins(operator, { integrationId: 'int_x', allowedOrigins: [] })).rejects.toThrow(
      'Integration not found',
    );
  });

  it('are written as browsers write them, each once', () => {
    const written = ['HTTPS://LMS.example.edu:443/', `${ORIGIN}/courses/1?x=1#y`, 'http://127.0.0.1:8080', ORIGIN];
    expect(originsInput.parse(written)).toEqual([ORIGIN, 'http://127.0.0.1:8080']);
    expect(originsInput.parse(['https://bücher.example'])).toEqual(['https://xn--bcher-kva.example']);
    expect(originsInput.safeParse(Array.from({ length: 101 }, (_, n) => `https://h${n}.example`)).success).toBe(false);
  });

  it.each([
    'lms.example.edu',
    'ftp://lms.example.edu',
    'https://*.example.edu',
    'null',
    '*',
    `https://${'a'.repeat(300)}`,
  ])('are never %s', (origin) => {
    expect(originsInput.safeParse([origin]).success).toBe(false);
  });
});

describe('the identity secret', () => {
  it('is stored encrypted and found as the key of an HMAC; a new one replaces it', async () => {
    const { siteKey } = await create();
    const first = await rotateIdentitySecret(operator, secrets, { integrationId });
    expect(first.identitySecret).toMatch(/^idsec_[\w-]{43}$/);
    expect((await find(siteKey))!.identitySecret!.toString()).toBe(first.identitySecret);
    const [row] = await database.db.sql`select identity_secret from integrations where id = ${integrationId}`;
    expect(Buffer.from(row!.identity_secret).includes(first.identitySecret)).toBe(false);
    const second = await rotateIdentitySecret(operator, secrets, { integrationId });
    expect((await find(siteKey))!.identitySecret!.toString()).toBe(second.identitySecret);
    const acts = await listActs();
    expect(acts.slice(1).map(({ action, details }) => [action, details])).toEqual([
      ['IdentitySecretRotated', { isFirst: true }],
      ['IdentitySecretRotated', { isFirst: false }],
    ]);
    expect(JSON.stringify(acts)).not.toContain('idsec_');
    await expect(rotateIdentitySecret(operator, secrets, { integrationId: 'int_x' })).rejects.toThrow('not found');
  });

  it('is still demanded if it cannot be read, and then no signature is right', async () => {
    const { siteKey } = await create();
    const { identitySecret } = await rotateIdentitySecret(operator, secrets, { integrationId });
    const other = createSecrets(randomBytes(32));
    const keys = [await findSite(database.db, other, siteKey), await findSite(database.db, other, siteKey)];
    expect(keys[0]!.identitySecret).toHaveLength(32);
    expect(keys[0]!.identitySecret).not.toEqual(keys[1]!.identitySecret);
    expect(keys[0]!.identitySecret!.toString()).not.toBe(identitySecret);
  });
});

it('acceptance of users without a signature is audited once, and refused for an unknown integration', async () => {
  const { siteKey } = await create();
  for (const acceptsUnsignedUsers of [true, true, false])
    await setUnsignedUsers(operator, { integrationId, acceptsUnsignedUsers });
  expect((await listActs()).slice(1).map(({ action, details }) => [action, details])).toEqual([
    ['UnsignedUsersChanged', { before: false, after: true }],
    ['UnsignedUsersChanged', { before: true, after: false }],
  ]);
  await setUnsignedUsers(operator, { integrationId, acceptsUnsignedUsers: true });
  expect(await find(siteKey)).toMatchObject({ acceptsUnsignedUsers: true });
  const unknown = { integrationId: 'int_x', acceptsUnsignedUsers: true };
  await expect(setUnsignedUsers(operator, unknown)).rejects.toThrow('not found');
});

it('permission to ignore Global Privacy Control is audited once', async () => {
  for (const mayIgnorePrivacyControl of [true, true, false])
    await setPrivacyControl(operator, { integrationId, mayIgnorePrivacyControl });
  expect((await listActs()).map(({ action, details }) => [action, details])).toEqual([
    ['PrivacyControlChanged', { before: false, after: true }],
    ['PrivacyControlChanged', { before: true, after: false }],
  ]);
});
