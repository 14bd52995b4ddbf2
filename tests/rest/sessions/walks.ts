import { beforeAll, describe, expect, it } from 'vitest';
import { encodeCursor } from '../../../server/domain/cursors';
import { expectError } from '../../support/answers';
import { closed, scored, secondsAgo, started } from '../../support/facts';
import { get, ingest, list, listIds, server, type Tenant } from './shared-server';

export function registerWalkTests(): void {
  describe('pageSize', () => {
    it.each([
      '0',
      '101',
      '1e1',
      ' 10',
      '+10',
      '10 ',
      '-1',
      '1.0',
      '',
      'abc',
      '٣',
      '0x10',
      'NaN',
      '9'.repeat(400),
      'null',
    ])('%j is 400', async (pageSize) => {
      expectError(await list(await anyTenant(), { pageSize }), 'INVALID_REQUEST', 'pageSize');
    });

    it.each(['?pageSize', '?pageSize=', '?pageSize=+10', '?pageSize=%2010', '?pageSize=%2B10', '?pageSize=10%00'])(
      '%s is 400',
      async (query) => {
        expectError(await get(await anyTenant(), `/v1/sessions${query}`), 'INVALID_REQUEST', 'pageSize');
      },
    );

    it.each([
      ['free', undefined, 50],
      ['free', '100', 50],
      ['free', '50', 50],
      ['free', '7', 7],
      ['starter', '100', 50],
      ['pro', undefined, 50],
      ['pro', '100', 100],
      ['enterprise', '100', 100],
      ['enterprise', '1', 1],
    ] as const)('on the plan %s: %s is the limit %s', async (plan, pageSize, limit) => {
      const tenant = await server.createTenant(plan);
      const { status, body } = await list(tenant, pageSize ? { pageSize } : {});
      expect([status, body.pagination]).toEqual([200, { hasMore: false, limit }]);
    });

    it('over the cap of the tier is cut to the cap', async () => {
      const tenant = await server.createTenant('free');
      await ingest(
        tenant,
        Array.from({ length: 60 }, (_, n) => started(`s-${n}`)),
      );
      const first = (await list(tenant, { pageSize: '100' })).body;
      expect([first.data.length, first.pagination.limit, first.pagination.hasMore]).toEqual([50, 50, true]);
      const rest = (await list(tenant, { pageSize: '100', cursor: first.pagination.nextCursor })).body;
      expect([rest.data.length, rest.pagination]).toEqual([10, { hasMore: false, limit: 50 }]);
    });

    let any: Promise<Tenant> | undefined;
    function anyTenant(): Promise<Tenant> {
      any ??= server.createTenant('enterprise');
      return any;
    }
  });

  describe('a walk', () => {
    const SHARED_TIMES = ['2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.001Z', '2026-03-01T10:00:01.000Z'];
    const IDS = Array.from({ length: 250 }, (_, n) => {
      const number = String(n).padStart(3, '0');
      return [
        number,
        `😀${number}`,
        `${'é'.repeat(253)}${number}`,
        `${'😀'.repeat(253)}${number}`,
        `\uffee${number}`,
        `Z"\\${number}`,
      ][n % 6]!;
    });

    it('over 250 sessions neither skips nor repeats while rows are inserted', async () => {
      const tenant = await server.createTenant();
      await ingest(
        tenant,
        IDS.map((id, n) => started(id, { startedAt: SHARED_TIMES[n % 3] })),
      );
      const seen: { id: string; createdAt: string }[] = [];
      const inserted = new Set<string>();
      let cursor: string | undefined;
      for (let page = 0; page < 200; page++) {
        const { status, body } = await list(tenant, { pageSize: '7', ...(cursor === undefined ? {} : { cursor }) });
        expect(status).toBe(200);
        expect(body.data.length).toBeLessThanOrEqual(7);
        seen.push(...body.data);
        if (!body.pagination.hasMore) {
          expect(body.pagination).toEqual({ hasMore: false, limit: 7 });
          break;
        }
        cursor = body.pagination.nextCursor;
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        // Newer, older and simultaneous sessions, before and after the position of the walk.
        const facts = ['0', 'M', 'z', '🙂'].map((prefix, n) => {
          const id = `${prefix}-new-${page}`;
          inserted.add(id);
          return started(id, { startedAt: [...SHARED_TIMES, '2026-02-01T00:00:00.000Z'][(page + n) % 4] });
        });
        await ingest(tenant, [...facts, started(`newest-${page}`, { startedAt: secondsAgo(1) })]);
      }
      const ids = seen.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(IDS.filter((id) => !ids.includes(id))).toEqual([]);
      expect(ids.filter((id) => !IDS.includes(id) && !inserted.has(id))).toEqual([]);
      const isInOrder = (a: { id: string; createdAt: string }, b: { id: string; createdAt: string }) =>
        a.createdAt > b.createdAt ||
        (a.createdAt === b.createdAt && Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) > 0);
      for (let n = 1; n < seen.length; n++) expect([n, isInOrder(seen[n - 1]!, seen[n]!)]).toEqual([n, true]);
    });

    it('whose last page is full ends with it', async () => {
      const tenant = await server.createTenant();
      await ingest(
        tenant,
        Array.from({ length: 10 }, (_, n) => started(`s-${n}`)),
      );
      const first = (await list(tenant, { pageSize: '5' })).body;
      expect(first.pagination).toEqual({ nextCursor: expect.any(String), hasMore: true, limit: 5 });
      const second = (await list(tenant, { pageSize: '5', cursor: first.pagination.nextCursor })).body;
      expect([second.data.length, second.pagination]).toEqual([5, { hasMore: false, limit: 5 }]);
    });

    it('over nothing is one empty page', async () => {
      const { body } = await list(await server.createTenant());
      expect(body).toEqual({ data: [], pagination: { hasMore: false, limit: 50 } });
    });
  });

  describe('a cursor', () => {
    let tenant: Tenant;
    let cursor: string;
    beforeAll(async () => {
      tenant = await server.createTenant();
      const facts = Array.from({ length: 12 }, (_, n) => [started(`s-${n}`), closed(`s-${n}`), scored(`s-${n}`, 0.9)]);
      await ingest(tenant, facts.flat());
      cursor = (await list(tenant, { pageSize: '3' })).body.pagination.nextCursor;
    });

    const expectRefused = async (query: Record<string, string>, of = tenant) =>
      expectError(await list(of, query), 'INVALID_REQUEST', 'cursor');

    it('is base64url without padding, of at most 512 characters even for ids of 256', async () => {
      const other = await server.createTenant();
      await ingest(other, [started('a'.repeat(256)), started('b'.repeat(256)), started('c')]);
      for (const pageSize of ['1', '2']) {
        const { nextCursor } = (await list(other, { pageSize })).body.pagination;
        expect(nextCursor).toMatch(/^[A-Za-z0-9_-]{1,512}$/);
      }
    });

    it('works with any page size', async () => {
      const rest = await listIds(tenant, { cursor, pageSize: '100' });
      expect(rest).toHaveLength(9);
      expect(await listIds(tenant, { cursor })).toEqual(rest);
      expect(await listIds(tenant, { cursor, pageSize: '2' })).toEqual(rest.slice(0, 2));
    });

    it('may be used again', async () => {
      expect(await listIds(tenant, { cursor })).toEqual(await listIds(tenant, { cursor }));
    });

    it('is bound to its integration', async () => {
      const other = await server.createTenant();
      await ingest(other, [started('x'), started('y')]);
      await expectRefused({ cursor }, other);
      const foreign = (await list(other, { pageSize: '1' })).body.pagination.nextCursor;
      await expectRefused({ cursor: foreign });
    });

    it('is bound to its filters', async () => {
      await expectRefused({ cursor, status: 'Scored' });
      await expectRefused({ cursor, minBotScore: '0' });
      const filtered = (await list(tenant, { pageSize: '3', status: 'Scored', minBotScore: '0.5' })).body.pagination;
      expect(await listIds(tenant, { cursor: filtered.nextCursor, status: 'Scored', minBotScore: '0.5' })).toHaveLength(
        9,
      );
      await expectRefused({ cursor: filtered.nextCursor });
      await expectRefused({ cursor: filtered.nextCursor, status: 'Scored' });
      await expectRefused({ cursor: filtered.nextCursor, status: 'Closed', minBotScore: '0.5' });
      await expectRefused({ cursor: filtered.nextCursor, status: 'Scored', minBotScore: '0.6' });
      await expectRefused({ cursor: filtered.nextCursor, status: 'Scored', maxBotScore: '0.5' });
    });

    it('accepts its filters in any case and order', async () => {
      const query = { pageSize: '3', status: 'scored', riskLevel: 'BOT', unknown: '1' };
      const { nextCursor } = (await list(tenant, query)).body.pagination;
      expect(await listIds(tenant, { riskLevel: 'bot', status: 'SCORED', cursor: nextCursor })).toHaveLength(9);
    });

    it('is bound to its route', async () => {
      const context = { integration: { id: tenant.id }, cursorKey: server.service.secrets.cursorKey } as never;
      const position = [secondsAgo(60), 's-1'] as const;
      const own = encodeCursor(context, { route: 'sessions', filters: {} }, position);
      expect((await list(tenant, { cursor: own })).status).toBe(200);
      await expectRefused({ cursor: encodeCursor(context, { route: 'users', filters: {} }, position) });
    });

    it('is refused with any byte changed', async () => {
      const bytes = Buffer.from(cursor, 'base64url');
      for (let n = 0; n < bytes.length; n++) {
        const changed = Buffer.from(bytes);
        changed[n]! ^= 1 << (n % 8);
        await expectRefused({ cursor: changed.toString('base64url') });
      }
    });

    it('is refused in any other spelling', async () => {
      const last = cursor.at(-1)!;
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const neighbours = [...alphabet].filter((c) => c !== last).map((c) => cursor.slice(0, -1) + c);
      const others = [`${cursor}=`, `${cursor}A`, cursor.slice(0, -1), cursor.slice(1), ` ${cursor}`, `${cursor}\n`];
      const noise = [
        `${cursor.slice(0, 5)}!${cursor.slice(5)}`,
        cursor.toUpperCase(),
        `${cursor}${cursor}`,
        `${cursor}\0`,
      ];
      for (const other of [...neighbours, ...others, ...noise]) await expectRefused({ cursor: other });
    });

    it('is refused if it was never issued', async () => {
      for (const other of ['', 'x', '0', 'null', '{}', 'AQ', '😀', '\0', '__proto__', 'A'.repeat(512), 'A'.repeat(513)])
        await expectRefused({ cursor: other });
      await expectRefused({ cursor: Buffer.from('["2026-01-01T00:00:00.000Z","x"]').toString('base64url') });
      await expectRefused({ cursor: 'A'.repeat(5_000) });
      await expectRefused({ cursor: `${cursor}${'A'.repeat(4_000)}` });
    });
  });
}
