import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Beacon, MAX_BEACON_BYTES } from '../../contract/beacon';
import { asOperator } from '../../server/audit/acts';
import { unpackBatch } from '../../server/collector/packing';
import { rotateIdentitySecret, setPrivacyControl, setUnsignedUsers } from '../../server/domain/collecting';
import { revokeSite } from '../../server/domain/sites';
import {
  type CollectReply,
  DRIVEN,
  ORDINARY,
  openPageSite,
  PAGE_ORIGIN,
  PAGE_URL,
  type PageSite,
  pageShown,
  postBeacon,
  Tab,
} from '../support/beacon';
import { startTestServer, type TestServer } from '../support/server';
import { character } from '../support/texts';

// The endpoint of the pixel: what it answers, to whom, and what is kept.

let server: TestServer;
let site: PageSite;
const openSite = async (origins?: string[]) => {
  const { service, url } = server;
  return openPageSite({ db: service.db, url }, await server.createTenant(), origins);
};
beforeAll(async () => {
  server = await startTestServer({ SESSION_IDLE: '1h', COLLECT_BATCHES_PER_MINUTE: '30' });
  site = await openSite();
});
afterAll(() => server.stop());

/** Counts what is kept for a tenant. */
async function countRows({ integrationId }: PageSite) {
  const [row] = await server.database.db.query<{ sessions: number; batches: number }>(
    `select count(distinct c.key)::int as sessions, count(b.sequence)::int as batches
       from collected_sessions c left join session_batches b on b.day = c.day and b.session_key = c.key
      where c.integration_id = $1`,
    [integrationId],
  );
  return row!;
}

const getSessions = async ({ key }: PageSite) => (await server.call('GET', '/v1/sessions', { key })).body.data;

async function expectIgnored(reply: CollectReply, of: PageSite) {
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(await countRows(of)).toEqual({ sessions: 0, batches: 0 });
}

describe('a batch', () => {
  it('is kept, and becomes a session with a score', async () => {
    const own = await openSite();
    const tab = new Tab(own, DRIVEN);
    const reply = await tab.send();
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ token: expect.stringMatching(/^[0-9a-z]+\.[\w-]{24}$/) });
    await expect.poll(() => getSessions(own)).toHaveLength(1);
    const [session] = await getSessions(own);
    expect(session).toMatchObject({ pageUrl: PAGE_URL, origin: PAGE_ORIGIN, status: 'Active', browser: 'Chrome' });
    expect(session.id).toMatch(/^ses_[\w-]{24}$/);
    expect(session.deviceFingerprint).toMatch(/^[0-9a-f]{32}$/);
    expect(session.botScore).toBeGreaterThan(0.6);
    expect(session.detectionFlags).toContain('webdriver');
    const [{ firstBatchAt }] = (await server.database.db.query(
      'select first_batch_at as "firstBatchAt" from sites where id = $1',
      [own.siteId],
    )) as [{ firstBatchAt: string | null }];
    expect(firstBatchAt).not.toBeNull();
  });

  it('may be read by any page, and its answer is never cached', async () => {
    const { headers } = await new Tab(site).send();
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'Retry-After',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(headers.get('set-cookie')).toBeNull();
  });

  it('changes nothing when it is sent again', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    const first = tab.make();
    const replies = await Promise.all([1, 2, 3].map(() => tab.post(first)));
    replies.push(await tab.post(first));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await countRows(own)).toEqual({ sessions: 1, batches: 1 });
  });

  it('of another page of the tab belongs to the same session', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    await tab.send();
    tab.navigate();
    const reply = await tab.send();
    // It came with a valid token, so it gets none.
    expect(reply.body).toEqual({});
    expect(await countRows(own)).toEqual({ sessions: 1, batches: 2 });
  });

  it('tells the page of a session only if its address has the origin that the browser says', async () => {
    const own = await openSite();
    await new Tab(own).send({ p: ['https://invented.example/courses/1'] });
    await expect.poll(() => getSessions(own)).toHaveLength(1);
    expect((await getSessions(own))[0]).toMatchObject({ pageUrl: `${PAGE_ORIGIN}/`, origin: PAGE_ORIGIN });
  });

  it('without a device id makes a session without a fingerprint', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    tab.device = undefined;
    await tab.send();
    await expect.poll(async () => (await getSessions(own))[0]?.deviceFingerprint).toBeNull();
  });
});

describe('a page that may not send', () => {
  it('has an unknown or a revoked key', async () => {
    const own = await openSite();
    await expectIgnored(await new Tab({ ...own, siteKey: `site_${'x'.repeat(24)}` }).send(), own);
    await revokeSite(asOperator(server.service.db), { id: own.siteId });
    await expectIgnored(await new Tab(own).send(), own);
  });

  it('is refused within seconds after its key was revoked', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    expect((await tab.send()).status).toBe(200);
    await revokeSite(asOperator(server.service.db), { id: own.siteId });
    await expect.poll(async () => (await tab.send()).status, { interval: 500 }).toBe(204);
  });

  it.each([
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['another port', { origin: `${PAGE_ORIGIN}:8443` }],
    ['another scheme', { origin: PAGE_ORIGIN.replace('https', 'http') }],
    ['an opaque origin', { origin: 'null' }],
    ['an origin that contains an allowed one', { origin: `${PAGE_ORIGIN}.evil.example` }],
  ])('has %s', async (_, headers) => {
    const own = await openSite();
    await expectIgnored(await new Tab(own).send({}, headers), own);
  });

  it('belongs to an integration without origins', async () => {
    const own = await openSite([]);
    await expectIgnored(await new Tab(own).send(), own);
  });

  it('belongs to a visitor who objects, unless the tag asks and the integration allows it', async () => {
    const own = await openSite();
    const objecting = { 'sec-gpc': '1' };
    await expectIgnored(await new Tab(own).send({}, objecting), own);
    await expectIgnored(await new Tab(own).send({ g: 1 }, objecting), own);
    const allowing = await openSite();
    const input = { integrationId: allowing.integrationId, mayIgnorePrivacyControl: true };
    await setPrivacyControl(asOperator(server.service.db), input);
    await expectIgnored(await new Tab(allowing).send({}, objecting), allowing);
    expect((await new Tab(allowing).send({ g: 1 }, objecting)).status).toBe(200);
  });
});

describe('a token', () => {
  it('is needed by all but the first batch of a document', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    tab.sequence = 1;
    await expectIgnored(await tab.send(), own);
  });

  it('of another session, another site or an invented one is refused', async () => {
    const [own, other] = [await openSite(), await openSite()];
    const [tab, stranger, foreign] = [new Tab(own), new Tab(own), new Tab(other)];
    for (const one of [tab, stranger, foreign]) await one.send();
    const before = await countRows(own);
    const [time, signature] = tab.token!.split('.') as [string, string];
    const later = (Number.parseInt(time, 36) + 60).toString(36);
    const tokens = [stranger.token, foreign.token, `${later}.${signature}`, `${time}.${'A'.repeat(24)}`, 'x', '.'];
    for (const t of tokens) expect((await tab.post({ ...tab.make({ n: 1 }), t: t as string })).status).toBe(204);
    expect(await countRows(own)).toEqual(before);
    expect((await tab.post(tab.make({ n: 1 }))).status).toBe(200);
  });

  it('of a session does not open the same nonce on another site', async () => {
    const [own, other] = [await openSite(), await openSite()];
    const tab = new Tab(own);
    await tab.send();
    const stolen = { ...tab.make({ n: 1 }), k: other.siteKey };
    await expectIgnored(await tab.post(stolen), other);
  });
});

describe('a body that is no beacon', () => {
  const expectRefused = ({ status, body, headers }: CollectReply) => {
    expect([status, body]).toEqual([400, { error: { code: 'INVALID_BODY', message: expect.any(String) } }]);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  };
  const post = (body: unknown) => postBeacon(server.url, typeof body === 'string' ? body : JSON.stringify(body));

  it('is refused', async () => {
    const whole = new Tab(site).make();
    const bodies = [
      ...[
        '',
        'x',
        '[]',
        'null',
        '{"v":1',
        '\ud800',
        { ...whole, v: 2 },
        { ...whole, k: 'site_x' },
        { ...whole, n: -1 },
      ],
      ...[
        { ...whole, d: 'D'.repeat(16) },
        { ...whole, ev: [99, 0] },
        { ...whole, ev: [15, 0, 5, 0] },
        { ...whole, s: 7 },
      ],
      ...[
        { ...whole, ev: [0.5] },
        { ...whole, p: ['javascript:alert(1)'] },
      ],
      ...[
        { ...whole, c: [-1, 0] },
        { ...whole, e: { w: 9 } },
      ],
    ];
    for (const body of bodies) expectRefused(await post(body));
    expectRefused(await postBeacon(server.url, Uint8Array.of(0x7b, 0xff, 0x7d)));
  });

  it('may have 64 KiB, and not a byte more', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    const text = JSON.stringify(tab.make());
    expectRefused(await post(text.padEnd(MAX_BEACON_BYTES + 1)));
    expectRefused(await post(text.padEnd(4 * MAX_BEACON_BYTES)));
    expect((await post(text.padEnd(MAX_BEACON_BYTES))).status).toBe(200);
  });

  it('cannot reach the prototype of objects', async () => {
    const text = JSON.stringify(new Tab(site).make());
    const polluting = text.replace(/^\{/, '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},');
    expect((await post(polluting)).status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('is answered with 200 or 400, whatever it is', async () => {
    const fuzzed = await openSite();
    const valid = new Tab(fuzzed).make();
    const names = [...Object.keys(valid), 'u', 'x', 'g', 'm', 'l', 't', '__proto__'];
    const change = fc.tuple(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }));
    const bodies = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)),
      fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
        const fields = Object.entries(valid).filter(([name]) => !changes.some(([changed]) => changed === name));
        const members = [...fields, ...changes].map(
          ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
        );
        return `{${members.join()}}`;
      }),
      fc.array(fc.integer({ min: -3, max: 30 }), { maxLength: 60 }).map((ev) => JSON.stringify({ ...valid, ev })),
      fc.string({ unit: character, maxLength: 200 }),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const { status } = await postBeacon(server.url, body);
        expect([200, 204, 400]).toContain(status);
      }),
      { numRuns: 150 },
    );
  });
});

describe('other methods', () => {
  it('get the permission for a preflight, and nothing else', async () => {
    const preflight = await fetch(`${server.url}/collect`, {
      method: 'OPTIONS',
      headers: { origin: 'https://any.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      // Pages may wrap fetch and add headers to each request. The wildcard does not stand for Authorization.
      'access-control-allow-headers': '*, Authorization',
    });
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await fetch(`${server.url}/collect`, { method })).status).toBe(404);
  });
});

describe('the limits', () => {
  it('let a session send so many batches a minute, and tell the page when to come back', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    let taken = 0;
    let reply = await tab.send();
    // The minute may turn once, so the limit may be used twice.
    for (; reply.status === 200 && taken < 60; reply = await tab.send()) taken++;
    expect(reply.status).toBe(503);
    expect(taken).toBeGreaterThanOrEqual(30);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(reply.body).toEqual({ error: { code: 'SERVICE_UNAVAILABLE', message: expect.any(String) } });
    // The refused batch is not kept. The page sends it again.
    expect((await countRows(own)).batches).toBe(taken);
  });

  it('let a network begin so many sessions a minute, and do not stop the sessions that it has', async () => {
    const limited = await startTestServer({ COLLECT_NEW_PER_MINUTE: '20' }, server);
    try {
      const { service, url } = limited;
      const own = await openPageSite({ db: service.db, url }, await server.createTenant());
      const first = new Tab(own);
      expect((await first.send()).status).toBe(200);
      const flood = await Promise.all(Array.from({ length: 60 }, () => new Tab(own).send()));
      const taken = flood.filter(({ status }) => status === 200).length;
      expect(flood.every(({ status }) => status === 200 || status === 503)).toBe(true);
      expect(taken).toBeLessThanOrEqual(40);
      expect((await countRows(own)).sessions).toBe(taken + 1);
      // However busy a process is, it takes 50 batches of each tenth of a second.
      await sleep(150);
      expect((await first.send()).status).toBe(200);
      // Another network has its own limit. The test's peer is on the loopback, so the header counts.
      expect((await new Tab(own).send({}, { 'x-forwarded-for': '203.0.113.9' })).status).toBe(200);
      expect((await server.call('GET', '/v1/sessions', { key: own.key })).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

describe('the metrics', () => {
  it('say what became of batches, which the page is not told', async () => {
    const tab = new Tab(site);
    const first = tab.make();
    for (const _ of [1, 2]) await tab.post(first);
    await tab.send({}, { origin: 'https://evil.example' });
    await tab.send({ t: 'x' });
    await postBeacon(server.url, 'x');
    const { text } = await server.service.metrics.scrape();
    for (const outcome of ['kept', 'repeated', 'origin', 'token', 'malformed'])
      expect(text).toMatch(new RegExp(`collector_batches_total\\{outcome="${outcome}"\\} [1-9]`));
  });
});

describe('the client', () => {
  it('is known by its network alone, never by its address', async () => {
    const own = await openSite();
    await new Tab(own).send({}, { 'x-forwarded-for': '203.0.113.77' });
    await new Tab(own).send({}, { 'x-forwarded-for': '2001:db8:1:2::5' });
    const rows = await server.database.db.query<{ prefix: string; hash: Buffer | null; whole: string }>(
      `select address_prefix as prefix, address_hash as hash, c::text as whole
         from collected_sessions c where integration_id = $1 order by prefix`,
      [own.integrationId],
    );
    expect(rows.map(({ prefix, hash }) => [prefix, hash])).toEqual([
      ['2001:db8:1::/48', null],
      ['203.0.113.0/24', null],
    ]);
    for (const { whole } of rows) expect(whole).not.toMatch(/203\.0\.113\.77|2001:db8:1:2/);
  });
});

describe('the end of a session', () => {
  it('is told also when only its facts are left, and its nonce does not change them', async () => {
    const own = await openSite();
    const tab = new Tab(own, DRIVEN);
    await tab.send({ x: 1 });
    await expect.poll(async () => (await getSessions(own))[0]?.status).toBe('Scored');
    const [session] = await getSessions(own);
    expect(session.botScore).toBeGreaterThan(0.9);
    const { query } = server.database.db;
    const isClosed = 'select closed_at is not null as "isClosed" from collected_sessions where integration_id = $1';
    await expect.poll(() => query(isClosed, [own.integrationId])).toEqual([{ isClosed: true }]);
    // As when its trace is removed, which is earlier than the session.
    await query('delete from collected_sessions where integration_id = $1', [own.integrationId]);
    tab.navigate();
    tab.token = undefined;
    expect((await tab.send({ e: ORDINARY, u: { id: 'u-other' } })).status).toBe(200);
    await expect.poll(() => countRows(own)).toEqual({ sessions: 1, batches: 0 });
    // The pixel draws a new nonce.
    expect((await tab.send({ x: 1 })).body).toEqual({ ended: true });
    await sleep(300);
    expect(await getSessions(own)).toEqual([session]);
  });

  it('is told to the page, and later batches are kept and change nothing', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    await tab.send();
    await tab.send({ x: 1 });
    await expect.poll(async () => (await getSessions(own))[0]?.status).toBe('Scored');
    const [session] = await getSessions(own);
    const late = await tab.send();
    expect([late.status, late.body]).toEqual([200, { ended: true }]);
    // The compaction has joined the first two; the late one stays as it is.
    await expect.poll(async () => (await countRows(own)).batches).toBe(1);
    await sleep(300);
    expect(await getSessions(own)).toEqual([session]);
    // Nobody would find the user there who is to be erased.
    await tab.send({ u: { id: 'u-late', name: 'Ada Lovelace' } });
    const bodies = await server.database.db.query<{ body: Buffer }>(
      `select b.body from collected_sessions c join session_batches b on b.day = c.day and b.session_key = c.key
        where c.integration_id = $1`,
      [own.integrationId],
    );
    const kept = bodies.map(({ body }) => JSON.stringify(unpackBatch(body, { d: '', n: 0, receivedAtMs: 0 })));
    expect([kept.length, kept.filter((text) => /u-late|Lovelace/.test(text))]).toEqual([2, []]);
    for (let n = 0; n < 25; n++) await tab.send();
    expect((await countRows(own)).batches).toBeLessThanOrEqual(20);
    // The pixel draws a new nonce.
    expect((await new Tab(own).send()).body).toHaveProperty('token');
    await expect.poll(() => getSessions(own)).toHaveLength(2);
  });
});

describe('who the visitor is', () => {
  const named = async (of: PageSite, u: Beacon['u']) => {
    const tab = new Tab(of);
    await tab.send({ ev: pageShown(0), ...(u ? { u } : {}) });
    await expect.poll(() => getSessions(of)).toHaveLength(1);
    return (await getSessions(of))[0];
  };

  it('is what the page says, with half confidence, while the integration has no identity secret', async () => {
    const session = await named(await openSite(), { id: 'u-1', name: 'Ada Lovelace', email: 'ada@example.edu' });
    expect(session).toMatchObject({ userId: 'u-1', userName: 'Ada Lovelace', correlationConfidence: 0.5 });
  });

  const sign = async (of: PageSite, id: string) => {
    const { service } = server;
    const { integrationId } = of;
    const { identitySecret } = await rotateIdentitySecret(asOperator(service.db), service.secrets, { integrationId });
    return createHmac('sha256', identitySecret).update(id).digest('hex');
  };

  it('is read from a page of a learning platform with more confidence, and describes nobody who is known', async () => {
    const own = await openSite();
    const session = await named(own, { id: 'u-6', lms: 1 });
    expect(session).toMatchObject({ userId: 'u-6', userName: 'u-6', correlationConfidence: 0.7 });
    const signed = await openSite();
    await sign(signed, 'u-6');
    expect(await named(signed, { id: 'u-6', lms: 1 })).toMatchObject({ userId: null });
  });

  it('is unsigned in spite of an identity secret, if the integration accepts that', async () => {
    const own = await openSite();
    const hash = await sign(own, 'u-7');
    const input = { integrationId: own.integrationId, acceptsUnsignedUsers: true };
    await setUnsignedUsers(asOperator(server.service.db), input);
    expect(await named(own, { id: 'u-8' })).toMatchObject({ userId: 'u-8', correlationConfidence: 0.5 });
    await new Tab(own).send({ u: { id: 'u-7', hash } });
    await expect.poll(() => getSessions(own)).toHaveLength(2);
    const users = (await getSessions(own)).map((one: { userId: string; correlationConfidence: number }) => [
      ...[one.userId, one.correlationConfidence],
    ]);
    expect(users).toEqual(expect.arrayContaining([['u-7', 1]]));
  });

  it('is the later of two users in one session', async () => {
    const own = await openSite();
    const tab = new Tab(own);
    const tell = async (u: Beacon['u']) => {
      await tab.send({ u });
      await expect.poll(async () => (await getSessions(own))[0]?.userId).toBe(u!.id);
    };
    await tell({ id: 'u-9' });
    await tell({ id: 'u-10', lms: 1 });
    // A page that is less sure changes nothing.
    await tab.send({ u: { id: 'u-9' } });
    await tell({ id: 'u-11', lms: 1 });
    const told = await server.database.db.query(
      `select user_id as id, confidence from session_correlations where integration_id = $1 order by correlated_at`,
      [own.integrationId],
    );
    expect(told).toEqual([
      { id: 'u-9', confidence: 0.5 },
      { id: 'u-10', confidence: 0.7 },
      { id: 'u-11', confidence: 0.7 },
    ]);
  });

  it('is certain with a signature, and nobody without one, once there is an identity secret', async () => {
    const [signed, unsigned, wrong] = [await openSite(), await openSite(), await openSite()];
    const hash = await sign(signed, 'u-2');
    expect(await named(signed, { id: 'u-2', hash })).toMatchObject({ userId: 'u-2', correlationConfidence: 1 });
    await sign(unsigned, 'u-3');
    expect(await named(unsigned, { id: 'u-3', name: 'Mallory' })).toMatchObject({ userId: null });
    await sign(wrong, 'u-4');
    expect(await named(wrong, { id: 'u-4', hash: randomBytes(32).toString('hex') })).toMatchObject({ userId: null });
  });

  it('never replaces what is known of a user by what an unsigned page says', async () => {
    const own = await openSite();
    await named(own, { id: 'u-5', name: 'Grace Hopper' });
    const tab = new Tab(own);
    await tab.send({ u: { id: 'u-5', name: 'Mallory', email: 'mallory@evil.example' } });
    await expect.poll(() => getSessions(own)).toHaveLength(2);
    expect((await getSessions(own)).map((one: { userName: string }) => one.userName)).toEqual([
      ...['Grace Hopper', 'Grace Hopper'],
    ]);
  });
});
