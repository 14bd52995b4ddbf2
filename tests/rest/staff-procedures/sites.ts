import { describe, expect, it } from 'vitest';
import { markReceiving } from '../../../server/domain/sites';
import { createStaffClient } from '../../support/staff-client';
import { admin, ask, at, ours, server, theirs } from './two-tenants';

export function registerSiteTests(): void {
  describe('sites', () => {
    const change = async (name: string, input: unknown, tenant = ours) => {
      const { status, body, text } = await admin.mutate(`sites.${name}`, input, at(tenant));
      expect([name, status, text]).toEqual([name, 200, text]);
      return body.result.data;
    };
    const check = async (body: unknown, headers: Record<string, string> = {}) => {
      const own = { cookie: admin.cookie, origin: server.url };
      return server.call('POST', '/collect/check', { body, headers: { ...own, ...headers } });
    };
    const ORIGIN = 'https://lms.example.edu';

    it('are created, listed and revoked, each for its integration', async () => {
      const { id, siteKey } = await change('create', { name: 'Campus' });
      expect(await ask('sites.list')).toEqual([
        { id, siteKey, name: 'Campus', createdAt: expect.stringMatching(/Z$/), revokedAt: null, firstReceivedAt: null },
      ]);
      expect(await ask('sites.list', undefined, theirs)).toEqual([]);
      expect((await admin.mutate('sites.revoke', { id }, at(theirs))).status).toBe(404);
      const revoked = await change('revoke', { id });
      expect(await change('revoke', { id })).toEqual(revoked);
      expect((await ask('sites.list'))[0].revokedAt).toBe(revoked.revokedAt);
    });

    it('have origins, an identity secret that is shown once, and a permission', async () => {
      expect(await ask('sites.getCollecting', undefined, theirs)).toEqual({
        ...{
          allowedOrigins: [],
          hasIdentitySecret: false,
          acceptsUnsignedUsers: false,
          mayIgnorePrivacyControl: false,
        },
      });
      const origins = await change('setOrigins', { allowedOrigins: [`${ORIGIN}/path`, ORIGIN] }, theirs);
      expect(origins).toEqual({ allowedOrigins: [ORIGIN] });
      const { identitySecret } = await change('rotateIdentitySecret', {}, theirs);
      await change('setUnsignedUsers', { acceptsUnsignedUsers: true }, theirs);
      await change('setPrivacyControl', { mayIgnorePrivacyControl: true }, theirs);
      const collecting = await ask('sites.getCollecting', undefined, theirs);
      expect(collecting).toEqual({
        ...{
          allowedOrigins: [ORIGIN],
          hasIdentitySecret: true,
          acceptsUnsignedUsers: true,
          mayIgnorePrivacyControl: true,
        },
      });
      expect(JSON.stringify(collecting)).not.toContain(identitySecret);
      const refused = await admin.mutate('sites.setOrigins', { allowedOrigins: [ORIGIN, 'lms'] }, at(theirs));
      expect([refused.status, refused.body.error.data.field]).toEqual([400, 'allowedOrigins.1']);
      const replaced = (origins: string[]) =>
        admin.mutate('sites.setOrigins', { allowedOrigins: [], replaced: origins }, at(theirs));
      const outdated = await replaced([]);
      expect([outdated.status, outdated.body.error.data.field]).toEqual([400, 'replaced']);
      expect((await ask('integration.get', {}, theirs)).allowedOrigins).toEqual([ORIGIN]);
      expect((await replaced([ORIGIN])).body.result.data).toEqual({ allowedOrigins: [] });
    });

    it('are checked step by step: why a page of an origin sends nothing', async () => {
      const tenant = { ...ours, ...(await server.createTenant()) };
      const { id, siteKey } = await change('create', {}, tenant);
      const state = async (origin = ORIGIN) => {
        const { status, body } = await check({ siteKey, origin });
        expect(status).toBe(200);
        return body;
      };
      expect((await check({ siteKey: `${siteKey}x`, origin: ORIGIN })).body).toMatchObject({ state: 'UnknownKey' });
      expect(await state()).toMatchObject({ state: 'NoOrigins', siteId: id, integrationId: tenant.id });
      await change('setOrigins', { allowedOrigins: [ORIGIN] }, tenant);
      expect((await state('https://lms.example.edu:8443')).state).toBe('OriginNotAllowed');
      expect((await state('http://lms.example.edu')).state).toBe('OriginNotAllowed');
      const nothing = await state(`${ORIGIN}/courses/1`);
      expect(nothing).toMatchObject({ state: 'NothingReceived', firstReceivedAt: null, lastReceivedAt: null });
      expect(nothing.notes).toEqual(['Nothing of visitors with Global Privacy Control is kept.']);
      await markReceiving(server.service.db, id);
      const [received] = await ask('sites.list', undefined, tenant);
      const { firstReceivedAt } = received;
      expect(await state()).toMatchObject({ state: 'Receiving', firstReceivedAt, lastReceivedAt: firstReceivedAt });
      const { sql } = server.database.db;
      const collected = await sql`
      insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent)
      select ${tenant.id}, 'ses-' || n, ${id}, now() + n * interval '1 s', now()::date, '' from generate_series(1, 2) n
      returning key, created_at, day`;
      expect((await state()).lastReceivedAt).toBe(collected[1]!.created_at);
      const [batch] = await sql`
      insert into session_batches (day, session_key, document, sequence, received_at, body)
      values (${collected[1]!.day}, ${collected[1]!.key}, 1, 0, now() + interval '9 s', '') returning received_at`;
      expect((await state()).lastReceivedAt).toBe(batch!.received_at);
      await change('setPrivacyControl', { mayIgnorePrivacyControl: true }, tenant);
      await change('rotateIdentitySecret', {}, tenant);
      const { notes } = await state();
      expect(notes).toEqual([
        expect.stringContaining('data-gpc="ignore"'),
        expect.stringContaining('without a valid data-user-hash'),
      ]);
      await change('setUnsignedUsers', { acceptsUnsignedUsers: true }, tenant);
      expect((await state()).notes).toEqual([expect.stringContaining('data-gpc="ignore"')]);
      await change('revoke', { id }, tenant);
      expect((await state()).state).toBe('Revoked');
    });

    it('are checked for signed-in staff on a page of this host alone', async () => {
      const body = { siteKey: 'site_x', origin: ORIGIN };
      const viewer = await createStaffClient(server, 'viewer');
      expect((await check(body, { cookie: viewer.cookie })).status).toBe(200);
      const refused = await Promise.all([
        check(body, { cookie: '' }),
        check(body, { cookie: 'staff_session=nonsense' }),
        check(body, { origin: 'https://evil.example.com' }),
        check(body, { 'content-type': 'text/plain' }),
        server.call('POST', '/collect/check', { body, headers: { cookie: admin.cookie } }),
      ]);
      expect(refused.map(({ status }) => status)).toEqual([401, 401, 403, 403, 403]);
      for (const [wrong, message] of [
        [{ siteKey: 'site_x' }, 'origin: '],
        [{ ...body, origin: 'lms.example.edu' }, 'origin: must be an http or https origin'],
        [{ ...body, siteKey: '' }, 'siteKey: '],
        [{ ...body, siteKey: 'a\0' }, 'siteKey: '],
        ['{', 'body: '],
      ] as const) {
        const answer = await check(wrong);
        expect([wrong, answer.status, answer.body.error.message]).toEqual([
          wrong,
          400,
          expect.stringContaining(message),
        ]);
      }
    });
  });
}
