import { describe, expect, it } from 'vitest';
import { expectError } from '../../support/answers';
import { create, created, DISABLED, get, INSTANT, list, patch, server, tenant, VALID } from './shared-server';

const EVENT_TYPES = [
  'BotDetected',
  'SessionAnomaly',
  'SessionCorrelated',
  'WritingSessionScored',
  'ReportReady',
  'AlertTriggered',
  'ThresholdExceeded',
];

export function registerCreationTests(): void {
  describe('POST /v1/webhooks', () => {
    it('answers 200 with the whole subscription and its secret', async () => {
      const owner = await server.createTenant('pro');
      const threshold = { field: 'botScore', operator: 'GTE', value: 0.9 };
      const { status, body } = await create(owner, { ...VALID, threshold, name: 'Mine', enabled: true });
      expect(status).toBe(200);
      expect(body).toEqual({
        data: {
          id: expect.stringMatching(/\S/),
          url: 'https://example.com/hook',
          eventType: 'BotDetected',
          threshold: { field: 'botScore', operator: 'gte', value: 0.9 },
          name: 'Mine',
          enabled: true,
          createdAt: expect.stringMatching(INSTANT),
          lastDeliveryAt: null,
          lastDeliveryStatus: null,
          disabledReason: null,
          disabledFailureClass: null,
          secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        },
      });
    });

    it('fills in absent fields: no threshold, the event type as the name, enabled', async () => {
      const owner = await server.createTenant('pro');
      const { data } = (await create(owner, VALID)).body;
      expect(data).toMatchObject({ threshold: null, name: 'BotDetected', enabled: true });
    });

    it('treats null as absent', async () => {
      const owner = await server.createTenant('pro');
      const { data } = (await create(owner, { ...VALID, threshold: null, name: null, enabled: null })).body;
      expect(data).toMatchObject({ threshold: null, name: 'BotDetected', enabled: true });
    });

    it.each(['url', 'eventType'])('requires %s, and null is not enough', async (field) => {
      expectError(await create(tenant, { ...DISABLED, [field]: undefined }), 'INVALID_BODY', field);
      expectError(await create(tenant, { ...DISABLED, [field]: null }), 'INVALID_BODY', field);
    });

    it('creates another one for the same URL, with a new id and a new secret', async () => {
      const [one, other] = [await created(tenant), await created(tenant)];
      expect(one.id).not.toBe(other.id);
      expect(one.secret).not.toBe(other.secret);
    });

    it.each(EVENT_TYPES)(
      'takes the event type %s in any case and answers the documented spelling',
      async (eventType) => {
        for (const input of [eventType, eventType.toLowerCase(), eventType.toUpperCase()])
          expect((await created(tenant, { eventType: input })).eventType).toBe(eventType);
      },
    );

    it.each([
      '',
      ' BotDetected',
      'BotDetected ',
      'Bot',
      'bot_detected',
      '__proto__',
      'constructor',
      'BotDetected,ReportReady',
    ])('refuses the event type %j with INVALID_EVENT_TYPE', async (eventType) => {
      expectError(await create(tenant, { ...DISABLED, eventType }), 'INVALID_EVENT_TYPE', 'eventType');
    });

    it('keeps the URL as it was sent', async () => {
      for (const url of ['HTTPS://Example.COM:443/Hook', 'http://example.com', 'https://example.com/ä?x=1#y'])
        expect((await created(tenant, { url })).url).toBe(url);
    });

    it('ignores unknown fields, and those that only the server writes', async () => {
      const { data } = (
        await create(tenant, {
          ...DISABLED,
          id: 'whk_mine',
          secret: 'mine',
          createdAt: '2000-01-01T00:00:00.000Z',
          disabledReason: 'x',
          lastDeliveryStatus: 'Delivered',
          unknown: { a: ['\0'] },
        })
      ).body;
      expect(data.id).not.toBe('whk_mine');
      expect(data.secret).not.toBe('mine');
      expect(data.createdAt).not.toMatch(/^2000/);
      expect(data).toMatchObject({ disabledReason: null, lastDeliveryStatus: null });
      expect(data).not.toHaveProperty('unknown');
    });

    it('ignores __proto__ and constructor', async () => {
      const text =
        '{"__proto__":{"enabled":"x","name":"y"},"constructor":1,"url":"https://example.com/","eventType":"BotDetected","enabled":false}';
      const { status, body } = await create(tenant, text);
      expect([status, body.data.name]).toEqual([200, 'BotDetected']);
    });
  });

  describe('the secret', () => {
    it('is in the answer to create and nowhere else', async () => {
      const { id, secret } = await created(tenant);
      const answers = [await get(tenant, id), await list(tenant), await patch(tenant, id, { name: 'x' })];
      for (const { text, status } of answers) {
        expect(status).toBe(200);
        expect(text).not.toContain('secret');
        expect(text).not.toContain(secret.slice('whsec_'.length));
      }
    });

    it('is stored sealed', async () => {
      const { id, secret } = await created(tenant);
      const [row] = await server.database.db.sql<{ row: string; sealed: Buffer }[]>`
      select s::text as row, secret_sealed as sealed from webhook_subscriptions s where id = ${id}`;
      const body = secret.slice('whsec_'.length);
      expect(row!.row).not.toContain(body);
      for (const plain of [Buffer.from(body), Buffer.from(body, 'base64')])
        expect(row!.sealed.includes(plain)).toBe(false);
    });
  });

  describe('GET', () => {
    it('shows one, as create did, without the secret', async () => {
      const { secret: _, ...shown } = await created(tenant, { name: 'One' });
      const { status, body } = await get(tenant, shown.id);
      expect([status, body]).toEqual([200, { data: shown }]);
    });

    it('lists all of them, oldest first, in the collection envelope', async () => {
      const owner = await server.createTenant('enterprise');
      expect((await list(owner)).body).toEqual({ data: [], pagination: { hasMore: false, limit: 100 } });
      const ids: string[] = [];
      for (let n = 0; n < 3; n++) ids.push((await created(owner)).id);
      const { status, body } = await list(owner);
      expect(status).toBe(200);
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids);
      expect(body.data[0]).toEqual((await get(owner, ids[0]!)).body.data);
      expect(body.pagination).toEqual({ hasMore: false, limit: 100 });
    });

    it('takes no cursor and no page size', async () => {
      expect((await server.call('GET', '/v1/webhooks?cursor=x&pageSize=0', { key: tenant.key })).status).toBe(200);
    });

    it('lists only the integration’s own', async () => {
      const other = await server.createTenant('enterprise');
      await created(tenant);
      expect((await list(other)).body.data).toEqual([]);
    });
  });
}
