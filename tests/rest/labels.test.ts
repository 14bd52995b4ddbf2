import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/answers';
import { Customer, pathOf } from '../support/customer';
import { waitForLocks } from '../support/database';
import { closed, correlated, scored, started } from '../support/facts';
import { startTestServer, type TestServer } from '../support/server';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let server: TestServer;
let customer: Customer;
beforeAll(async () => {
  server = await startTestServer();
  customer = await Customer.create(server, [started('s')]);
});
afterAll(() => server.stop());

const labelPath = (id: string) => `${pathOf('v1', 'sessions', id)}/label`;
const refuse = async (body: unknown, field: string) =>
  expectError(await customer.post(labelPath('s'), body), 'INVALID_BODY', field);
const scoredSession = (id: string, botScore: number) => [started(id), closed(id), scored(id, botScore)];
const listIds = async (of: Customer, query: string) =>
  (await of.read(`/v1/sessions?${query}`)).map(({ id }: { id: string }) => id).sort();

describe('a label', () => {
  it('answers the session’s label and is stored on the session', async () => {
    const before = Date.now();
    const body = { verdict: 'bot', confidence: 'high', notes: 'Pasted 400 words' };
    const { labeledAt, ...label } = await customer.label('s', body);
    expect(label).toEqual({ sessionId: 's', ...body });
    expect(labeledAt).toMatch(ISO);
    expect(Date.parse(labeledAt)).toBeGreaterThan(before - 1_000);
    expect(Date.parse(labeledAt)).toBeLessThan(Date.now() + 1_000);
    const session = await customer.session('s');
    expect(session).toMatchObject({ label: { ...body, labeledAt }, riskLevel: 'bot', updatedAt: labeledAt });
  });

  it('replaces the whole previous label', async () => {
    const first = await customer.label('s', { verdict: 'bot', confidence: 'high', notes: 'sure' });
    const second = await customer.label('s', { verdict: 'human' });
    expect(second).toMatchObject({ verdict: 'human', confidence: null, notes: null });
    expect(Date.parse(second.labeledAt)).toBeGreaterThanOrEqual(Date.parse(first.labeledAt));
    const { sessionId: _, ...label } = second;
    expect(await customer.session('s')).toMatchObject({ label, riskLevel: 'human' });
  });

  it('is the later change, also if facts that began before it waited', async () => {
    const of = await Customer.create(server, [started('a'), started('b')]);
    const { sql } = server.database.db;
    const { told, labeledAt } = await sql.begin(async (other) => {
      await other`select from sessions where integration_id = ${of.id} and id = 'a' for update`;
      const facts = of.tell([scored('a', 0.1), scored('b', 0.2)]);
      await waitForLocks(sql, 1);
      return { told: { facts }, ...(await of.label('b', { verdict: 'bot' })) };
    });
    await told.facts;
    expect(await of.session('b')).toMatchObject({ botScore: 0.2, label: { labeledAt }, updatedAt: labeledAt });
  });

  it('sent again is the same label', async () => {
    const body = { verdict: 'human', confidence: 'low', notes: 'x' };
    const { labeledAt: _, ...first } = await customer.label('s', body);
    expect(await customer.label('s', body)).toMatchObject(first);
  });

  it('takes its words in any case', async () => {
    expect(await customer.label('s', { verdict: 'BOT', confidence: 'Medium' })).toMatchObject({
      verdict: 'bot',
      confidence: 'medium',
    });
    expect(await customer.label('s', { verdict: 'Human', confidence: 'LOW' })).toMatchObject({
      verdict: 'human',
      confidence: 'low',
    });
  });

  it('treats null as absent', async () => {
    const label = await customer.label('s', { verdict: 'bot', confidence: null, notes: null });
    expect(label).toMatchObject({ confidence: null, notes: null });
  });

  it.each([undefined, null, '', 'none', 'bots', ' bot', 1, true, ['bot'], '__proto__'])(
    'names verdict if it is %j',
    async (verdict) => refuse({ verdict, confidence: 'x' }, 'verdict'),
  );

  it.each(['', 'certain', 'none', 1, false, ['low'], 'constructor'])(
    'names confidence if it is %j',
    async (confidence) => refuse({ verdict: 'bot', confidence, notes: 5 }, 'confidence'),
  );

  it.each([5, true, ['x'], {}, 'a\0b', '\ud800', 'x\udfff', 'x'.repeat(1001), '😀'.repeat(1001)])(
    'names notes if they are %j',
    async (notes) => {
      // JSON carries a lone surrogate as an escape.
      await refuse(JSON.stringify({ verdict: 'bot', notes }), 'notes');
    },
  );

  it.each(['', ' ', 'x'.repeat(1000), '😀'.repeat(1000), `${'é'.repeat(999)}😀`, 'line\nbreak\ttab\u0001', '\u202e'])(
    'keeps notes as they are: %j',
    async (notes) => {
      expect((await customer.label('s', { verdict: 'bot', notes })).notes).toBe(notes);
      expect((await customer.session('s')).label.notes).toBe(notes);
    },
  );

  it('that is refused changes nothing', async () => {
    await customer.label('s', { verdict: 'human', notes: 'kept' });
    const before = await customer.session('s');
    await refuse({ verdict: 'bot', notes: 'x'.repeat(1001) }, 'notes');
    expect(await customer.session('s')).toEqual(before);
  });

  it('needs a body', async () => {
    await refuse(undefined, 'body');
    await refuse('[]', 'body');
    await refuse({}, 'verdict');
  });

  it('applies to the session in the path, whatever the body says', async () => {
    const other = await Customer.create(server, [started('a'), started('b')]);
    const body = { verdict: 'bot', sessionId: 'b', labeledAt: '2020-01-01T00:00:00Z', unknown: 1 };
    expect(await other.label('a', body)).toMatchObject({ sessionId: 'a', verdict: 'bot' });
    expect((await other.session('b')).label).toBeNull();
  });

  it('of an unknown session or another integration’s is 404; a wrong body is refused first', async () => {
    const stranger = await Customer.create(server);
    expectError(await stranger.post(labelPath('s'), { verdict: 'bot' }), 'NOT_FOUND');
    expectError(await customer.post(labelPath('unknown'), { verdict: 'bot' }), 'NOT_FOUND');
    expectError(await customer.post(labelPath('unknown'), {}), 'INVALID_BODY', 'verdict');
  });
});

describe('a label beats the score', () => {
  it('in the risk level and in every filter by it', async () => {
    const ids = ['high', 'low', 'high-plain', 'low-plain'];
    const one = await Customer.create(
      server,
      ids.flatMap((id) => scoredSession(id, id.startsWith('high') ? 0.95 : 0.05)),
    );
    await one.label('high', { verdict: 'human' });
    await one.label('low', { verdict: 'bot' });
    expect(await one.session('high')).toMatchObject({ botScore: 0.95, riskLevel: 'human' });
    expect(await one.session('low')).toMatchObject({ botScore: 0.05, riskLevel: 'bot' });
    expect(await listIds(one, 'riskLevel=bot')).toEqual(['high-plain', 'low']);
    expect(await listIds(one, 'riskLevel=human')).toEqual(['high', 'low-plain']);
    expect(await listIds(one, 'label=bot')).toEqual(['low']);
    expect(await listIds(one, 'label=human')).toEqual(['high']);
    expect(await listIds(one, 'label=none')).toEqual(['high-plain', 'low-plain']);
    // Scores do not change.
    expect(await listIds(one, 'minBotScore=0.5')).toEqual(['high', 'high-plain']);
  });

  it('under any thresholds', async () => {
    const one = await Customer.create(server, [...scoredSession('bot', 0), ...scoredSession('human', 1)]);
    await one.label('bot', { verdict: 'bot' });
    await one.label('human', { verdict: 'human' });
    for (const [mediumAt, botAt] of [
      [0, 5],
      [95, 100],
      [0, 100],
    ] as const) {
      await one.setThresholds(mediumAt, botAt);
      expect([await listIds(one, 'riskLevel=bot'), await listIds(one, 'riskLevel=human')]).toEqual([
        ['bot'],
        ['human'],
      ]);
      expect([(await one.session('bot')).riskLevel, (await one.session('human')).riskLevel]).toEqual(['bot', 'human']);
    }
  });

  it('when the session has no score yet, and changes no status', async () => {
    const one = await Customer.create(server, [started('s'), started('plain')]);
    await one.label('s', { verdict: 'bot' });
    expect(await one.session('s')).toMatchObject({ status: 'Active', botScore: null, riskLevel: 'bot' });
    expect((await one.session('plain')).riskLevel).toBeNull();
    expect(await listIds(one, 'riskLevel=bot')).toEqual(['s']);
    expect(await listIds(one, 'label=none')).toEqual(['plain']);
  });

  it('when the score arrives later too', async () => {
    const one = await Customer.create(server, [started('s')]);
    await one.label('s', { verdict: 'human', notes: 'met them' });
    const { label } = await one.session('s');
    await one.accept([closed('s'), scored('s', 0.99), correlated('s', 'u')]);
    expect(await one.session('s')).toMatchObject({ status: 'Scored', botScore: 0.99, riskLevel: 'human', label });
  });

  it('in the counts of users, courses, stats and analytics', async () => {
    const one = await Customer.create(server, [...scoredSession('s', 0.1), correlated('s', 'u')]);
    const read = async () => [
      (await one.read('/v1/users'))[0].botSessionCount,
      (await one.read('/v1/users'))[0].riskLevel,
      (await one.read('/v1/courses'))[0].botSessionCount,
      (await one.read('/v1/stats')).botSessions,
      (await one.read('/v1/analytics')).botDetection.highConfidenceBots,
    ];
    expect(await read()).toEqual([0, 'human', 0, 0, 0]);
    await one.label('s', { verdict: 'bot' });
    expect(await read()).toEqual([1, 'bot', 1, 1, 1]);
    await one.label('s', { verdict: 'human' });
    expect(await read()).toEqual([0, 'human', 0, 0, 0]);
  });

  it('in the decision to fire BotDetected, and fires nothing itself', async () => {
    const one = await Customer.create(server, [started('high'), started('low'), ...scoredSession('later', 0.1)]);
    await one.label('high', { verdict: 'human' });
    for (const id of ['low', 'later']) await one.label(id, { verdict: 'bot' });
    const close = (id: string, botScore: number) => [closed(id), scored(id, botScore)];
    await one.accept([...close('high', 0.99), ...close('low', 0.01)]);
    const fired = await server.database.db.sql`select natural_key from domain_events where integration_id = ${one.id}`;
    expect(fired.map((row) => row.natural_key)).toEqual(['low']);
  });
});
