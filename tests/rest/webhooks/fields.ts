import { beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../../support/answers';
import vectors from '../../vectors/ssrf.json';
import { create, created, DISABLED, get, patch, remove, tenant, VALID } from './shared-server';

export function registerFieldTests(): void {
  describe('a field', () => {
    it.each<[string, unknown, string]>([
      ['url', 1, 'url'],
      ['url', true, 'url'],
      ['url', ['https://example.com/'], 'url'],
      ['url', {}, 'url'],
      ['eventType', 1, 'eventType'],
      ['eventType', ['BotDetected'], 'eventType'],
      ['name', 1, 'name'],
      ['name', '', 'name'],
      ['name', 'x'.repeat(101), 'name'],
      ['name', '😀'.repeat(101), 'name'],
      ['name', {}, 'name'],
      ['name', 'a\0b', 'name'],
      ['enabled', 'false', 'enabled'],
      ['enabled', 'true', 'enabled'],
      ['enabled', 0, 'enabled'],
      ['enabled', 1, 'enabled'],
      ['enabled', '', 'enabled'],
      ['enabled', [], 'enabled'],
      ['threshold', 'botScore gte 0.9', 'threshold'],
      ['threshold', 1, 'threshold'],
      ['threshold', [], 'threshold'],
      ['threshold', {}, 'threshold.field'],
      ['threshold', { field: 1, operator: 'gte', value: 1 }, 'threshold.field'],
      ['threshold', { field: '', operator: 'gte', value: 1 }, 'threshold.field'],
      ['threshold', { field: 'x'.repeat(257), operator: 'gte', value: 1 }, 'threshold.field'],
      ['threshold', { field: 'a\0b', operator: 'gte', value: 1 }, 'threshold.field'],
      ['threshold', { field: 'botScore', value: 1 }, 'threshold.operator'],
      ['threshold', { field: 'botScore', operator: '>=', value: 1 }, 'threshold.operator'],
      ['threshold', { field: 'botScore', operator: 'gte ', value: 1 }, 'threshold.operator'],
      ['threshold', { field: 'botScore', operator: null, value: 1 }, 'threshold.operator'],
      ['threshold', { field: 'botScore', operator: '__proto__', value: 1 }, 'threshold.operator'],
      ['threshold', { field: 'botScore', operator: 'gte' }, 'threshold.value'],
      ['threshold', { field: 'botScore', operator: 'gte', value: null }, 'threshold.value'],
      ['threshold', { field: 'botScore', operator: 'gte', value: 'high' }, 'threshold.value'],
      ['threshold', { field: 'botScore', operator: 'gte', value: '' }, 'threshold.value'],
      ['threshold', { field: 'botScore', operator: 'gte', value: true }, 'threshold.value'],
      ['threshold', { field: 'botScore', operator: 'lt', value: [1] }, 'threshold.value'],
      ['threshold', { field: 'severity', operator: 'eq', value: ['high'] }, 'threshold.value'],
      ['threshold', { field: 'severity', operator: 'neq', value: {} }, 'threshold.value'],
      ['threshold', { field: 'severity', operator: 'eq', value: 'a\0b' }, 'threshold.value'],
      ['threshold', { field: 'severity', operator: 'in', value: 'high' }, 'threshold.value'],
    ])('%s = %j is INVALID_BODY at create and update', async (field, value, named) => {
      expectError(await create(tenant, { ...DISABLED, [field]: value }), 'INVALID_BODY', named);
      const { id } = await shared();
      expectError(await patch(tenant, id, { [field]: value }), 'INVALID_BODY', named);
    });

    it('threshold.value that is an array is named itself or by its invalid item', async () => {
      for (const value of [[], [null], ['a', {}], [['x']], ['\0'], Array(1_000).fill('x')]) {
        const { status, body } = await create(tenant, {
          ...DISABLED,
          threshold: { field: 'severity', operator: 'in', value },
        });
        expect([status, body.error.code]).toEqual([400, 'INVALID_BODY']);
        expect(body.error.details.field).toMatch(/^threshold\.value(\.\d+)?$/);
      }
    });

    it.each<[string, unknown]>([
      ['name', 'x'.repeat(100)],
      ['name', '😀'.repeat(100)],
      ['name', ' '],
      ['threshold', { field: 'botScore', operator: 'gte', value: 0.9 }],
      ['threshold', { field: 'botScore', operator: 'lt', value: '0.9' }],
      ['threshold', { field: 'metadata.otherUserCount', operator: 'gt', value: -1 }],
      ['threshold', { field: 'severity', operator: 'eq', value: 'high' }],
      ['threshold', { field: 'severity', operator: 'eq', value: '' }],
      ['threshold', { field: 'flag', operator: 'neq', value: false }],
      ['threshold', { field: 'severity', operator: 'in', value: ['high', 1, true] }],
    ])('%s = %j is taken and given back as it is', async (field, value) => {
      const { id, ...data } = await created(tenant, { [field]: value });
      expect(data[field]).toEqual(value);
      expect((await get(tenant, id)).body.data[field]).toEqual(value);
      expect((await patch(tenant, id, { [field]: value })).body.data[field]).toEqual(value);
    });

    it('that is the first in the document’s order is named if several are invalid', async () => {
      expectError(await create(tenant, { url: 1, eventType: 2, enabled: 'x' }), 'INVALID_BODY', 'url');
      expectError(await create(tenant, { ...VALID, enabled: 'x' }), 'INVALID_BODY', 'enabled');
    });

    /** One subscription for the cases that change nothing. */
    let sharedOne: ReturnType<typeof created> | undefined;
    function shared() {
      sharedOne ??= created(tenant);
      return sharedOne;
    }
  });

  describe('the URL', () => {
    let id: string;
    beforeAll(async () => {
      id = (await created(tenant)).id;
    });

    const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);
    const FORBIDDEN = [...vectors.rejectUrls, ...vectors.rejectAddresses.map((a) => `https://${bracketed(a)}/hook`)];
    const ALLOWED = [...vectors.allowUrls, ...vectors.allowAddresses.map((a) => `https://${bracketed(a)}/hook`)];

    it.each(FORBIDDEN)('%j is INVALID_URL at create and update', async (url) => {
      expectError(await create(tenant, { ...DISABLED, url }), 'INVALID_URL', 'url');
      expectError(await patch(tenant, id, { url }), 'INVALID_URL', 'url');
      expect((await get(tenant, id)).body.data.url).toBe(VALID.url);
    });

    it.each(ALLOWED)('%j is taken at create and update', async (url) => {
      const one = await created(tenant, { url });
      expect(one.url).toBe(url);
      expect((await patch(tenant, one.id, { url: VALID.url })).body.data.url).toBe(VALID.url);
      expect((await patch(tenant, one.id, { url })).body.data.url).toBe(url);
      await remove(tenant, one.id);
    });

    it('may have 2048 characters, counted as code points', async () => {
      const base = 'https://example.com/';
      const ofLength = (length: number, filler: string) => base + filler.repeat(length - base.length);
      for (const filler of ['x', '😀']) {
        const one = await created(tenant, { url: ofLength(2048, filler) });
        expect(one.url).toBe(ofLength(2048, filler));
        expectError(await create(tenant, { ...DISABLED, url: ofLength(2049, filler) }), 'INVALID_URL', 'url');
        expectError(await patch(tenant, one.id, { url: ofLength(2049, filler) }), 'INVALID_URL', 'url');
        await remove(tenant, one.id);
      }
    });

    it('is named if it contains U+0000 or a lone surrogate', async () => {
      for (const character of ['\\u0000', '\\ud800', '\\udfff']) {
        const text = `{"url":"https://example.com/${character}","eventType":"BotDetected","enabled":false}`;
        const { status, body } = await create(tenant, text);
        expect([status, body.error.details]).toEqual([400, { field: 'url' }]);
      }
    });
  });
}
