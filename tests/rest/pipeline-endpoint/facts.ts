import { beforeAll, describe, expect, it } from 'vitest';
import { closed, finding, minutesAhead, scored, secondsAgo, started } from '../../support/facts';
import {
  accept,
  countSessions,
  events,
  expectCounts,
  fillEvidence,
  readDetections,
  readEventCount,
  readSession,
  server,
  type Tenant,
} from './two-servers';

export function registerFactTests(): void {
  describe('a fact', () => {
    const ID = 's-known';
    let tenant: Tenant;
    beforeAll(async () => {
      tenant = await server.createTenant();
      await accept(tenant, [started(ID, { startedAt: secondsAgo(120) })]);
    });

    const event = (fields: Record<string, unknown>) => events(ID, [7], fields);
    const located = (fields: Record<string, unknown>) =>
      started('new', { location: { latitude: 51.5, longitude: -0.12, accuracyKm: 50, ...fields } });
    const segment = (fields: Record<string, unknown>) => ({ startedAt: secondsAgo(9), logOdds: -3.5, ...fields });
    const evidence = (fields: Record<string, unknown>) =>
      scored(ID, 0.5, { evidence: [finding('f'), finding('g', fields)] });
    const ODD_IDS = [
      '',
      '.',
      '..',
      'a\0b',
      'a\u0001',
      'a\nb',
      '\t',
      'a\u007f',
      'a\u0085',
      '\ud800',
      'x'.repeat(257),
      1,
      null,
    ];

    it.each<[string, unknown]>([
      ['nothing', null],
      ['a string', 'sessionStarted'],
      ['an array', []],
      ['no kind', { sessionId: ID }],
      ['an unknown kind', { ...closed(ID), kind: 'sessionPaused' }],
      ['a kind in another case', { ...closed(ID), kind: 'SessionClosed' }],
      ['the kind __proto__', { ...closed(ID), kind: '__proto__' }],
      ...ODD_IDS.map((id): [string, unknown] => [`the id ${JSON.stringify(id)}`, started(id as string)]),
      ['the id 257 emoji', started('😀'.repeat(257))],
      ['no id', { ...started(ID), sessionId: undefined }],
      ['no start', started('new', { startedAt: undefined })],
      ['a start without an offset', started('new', { startedAt: '2026-01-01T00:00:00' })],
      ['a start that is a date', started('new', { startedAt: '2026-01-01' })],
      ['a start that is no date', started('new', { startedAt: '2026-02-30T00:00:00Z' })],
      ['a start in milliseconds', started('new', { startedAt: 1_700_000_000_000 })],
      ['no page', started('new', { pageUrl: undefined })],
      ['an empty page', started('new', { pageUrl: '' })],
      ['a page that is no URL', started('new', { pageUrl: 'lms.example.edu/x' })],
      ['a page of another scheme', started('new', { pageUrl: 'javascript:alert(1)' })],
      ['a page with an endless origin', started('new', { pageUrl: `https://${'x'.repeat(300)}.edu/` })],
      ['a page with U+0000', started('new', { pageUrl: 'https://x.edu/\0' })],
      ['no user agent', started('new', { userAgent: undefined })],
      ['a user agent that is a number', started('new', { userAgent: 5 })],
      ['a user agent with a lone surrogate', started('new', { userAgent: '\ud800' })],
      ['a fingerprint of control characters', started('new', { deviceFingerprint: '\u0001' })],
      ['the fingerprint ..', started('new', { deviceFingerprint: '..' })],
      ['a country that is a number', started('new', { country: 49 })],
      ['a location without an accuracy', located({ accuracyKm: undefined })],
      ['a location beyond the pole', located({ latitude: 90.01 })],
      ['a location beyond the date line', located({ longitude: -180.01 })],
      ['a location in text', located({ latitude: '51.5' })],
      ['a location with a negative accuracy', located({ accuracyKm: -1 })],
      ['a location somewhere on the Earth', located({ accuracyKm: 20_041 })],
      ['a location that is a list', started('new', { location: [51.5, -0.12, 50] })],
      ['no events', { kind: 'sessionEvents', sessionId: ID, events: [] }],
      ['events that are an object', { kind: 'sessionEvents', sessionId: ID, events: {} }],
      ['an event without a sequence', event({ sequence: undefined })],
      ['a negative sequence', event({ sequence: -1 })],
      ['a broken sequence', event({ sequence: 1.5 })],
      ['a sequence in text', event({ sequence: '7' })],
      ['a sequence beyond 32 bits', event({ sequence: 2 ** 31 })],
      ['an unknown event type', event({ type: 'keypress' })],
      ['an event type that is a number', event({ type: 1 })],
      ['an event without a time', event({ timestamp: undefined })],
      ['a negative duration', event({ durationMs: -1 })],
      ['a negative count', event({ eventCount: -1 })],
      ['a broken count', event({ eventCount: 0.5 })],
      ['a count over 100,000', event({ eventCount: 100_001 })],
      ['an event at a script', event({ url: 'javascript:alert(1)' })],
      ['an event at a disguised script', event({ url: ' java\nscript:alert(1)' })],
      ['an event at data', event({ url: 'data:text/html,x' })],
      ['an event at a path', event({ url: '/x' })],
      ['an event at an address of 8,193 characters', event({ url: `https://x.edu/${'x'.repeat(8_179)}` })],
      ['metadata of 16 KiB and a byte', event({ metadata: { a: 'x'.repeat(16_384 - 7) } })],
      ['metadata of large numbers, of 31 KB without exponents', event({ metadata: { a: Array(100).fill(1e308) } })],
      ['metadata of small numbers, of 33 KB without exponents', event({ metadata: { a: Array(100).fill(5e-324) } })],
      ['metadata that is text', event({ metadata: 'x' })],
      ['metadata that is a list', event({ metadata: [1] })],
      ['metadata with U+0000', event({ metadata: { a: { b: ['\0'] } } })],
      ['metadata with U+0000 in a name', event({ metadata: { 'a\0': 1 } })],
      ['metadata with a lone surrogate', event({ metadata: { a: '\udfff' } })],
      ['metadata nested a hundred deep', event({ metadata: nest(100) })],
      ['metadata nested 2,000 deep', event({ metadata: nest(2_000) })],
      ['no close', closed(ID, { closedAt: undefined })],
      ['no score', scored(ID, 0.5, { botScore: undefined })],
      ['a score over 1', scored(ID, 1.0001)],
      ['a score under 0', scored(ID, -0.0001)],
      ['a score in text', scored(ID, 0.5, { botScore: '0.5' })],
      ['a score in percent', scored(ID, 70)],
      ['a score of null', scored(ID, 0.5, { botScore: null })],
      ['no flags', scored(ID, 0.5, { detectionFlags: undefined })],
      ['a flag that is a number', scored(ID, 0.5, { detectionFlags: [1] })],
      ['a flag with U+0000', scored(ID, 0.5, { detectionFlags: ['\0'] })],
      ['no time of a score', scored(ID, 0.5, { scoredAt: undefined })],
      ['a version of the rules without a character', scored(ID, 0.5, { ruleSetVersion: '' })],
      ['a version of the rules of 65 characters', scored(ID, 0.5, { ruleSetVersion: 'x'.repeat(65) })],
      ['a version of the rules that is a number', scored(ID, 0.5, { ruleSetVersion: 2026.1 })],
      ['121 segments', scored(ID, 0.5, { segments: Array(121).fill(segment({})) })],
      ['a segment without a start', scored(ID, 0.5, { segments: [segment({ startedAt: undefined })] })],
      ['a segment that starts at no date', scored(ID, 0.5, { segments: [segment({ startedAt: 'soon' })] })],
      ['a segment with log odds in text', scored(ID, 0.5, { segments: [segment({ logOdds: '1' })] })],
      [
        'a segment with endless log odds',
        JSON.parse(
          JSON.stringify(scored(ID, 0.5, { segments: [segment({ logOdds: 7_001 })] })).replace('7001', '1e400'),
        ),
      ],
      ['segments that are one', scored(ID, 0.5, { segments: segment({}) })],
      ['evidence that is an object', scored(ID, 0.5, { evidence: {} })],
      ['101 findings', scored(ID, 0.5, { evidence: Array(101).fill(finding('f')) })],
      ['a finding of nothing', scored(ID, 0.5, { evidence: [null] })],
      ['a finding without a flag', evidence({ flag: undefined })],
      ['a finding with a flag of 257 characters', evidence({ flag: 'x'.repeat(257) })],
      ['a finding with a flag with U+0000', evidence({ flag: '\0' })],
      ['a finding of an unknown group', evidence({ group: 'mood' })],
      ['a finding in an unknown state', evidence({ state: 'Found' })],
      ['a finding that measured a list', evidence({ measured: [1] })],
      ['a finding that measured nothing it names', evidence({ measured: undefined })],
      ['a finding that measured 257 characters', evidence({ measured: 'x'.repeat(257) })],
      ['a finding that measured a lone surrogate', evidence({ measured: '\ud800' })],
      ['a finding that expected a number', evidence({ expected: 0.5 })],
      ['a finding with a weight in text', evidence({ weight: '1' })],
      [
        'a finding with an infinite weight',
        JSON.parse(JSON.stringify(evidence({ weight: 7_001 })).replace('7001', '1e400')),
      ],
      ['a finding with 21 moments', evidence({ moments: Array(21).fill(secondsAgo(1)) })],
      ['a finding with a moment that is no date', evidence({ moments: ['2026-02-30T00:00:00Z'] })],
      ['a finding with a moment in milliseconds', evidence({ moments: [1_700_000_000_000] })],
      ['evidence of more than 16 KiB', scored(ID, 0.5, { evidence: fillEvidence(16_385) })],
      ['events of an unknown session', events('unknown', [1])],
      ['the close of an unknown session', closed('unknown')],
      ['the score of an unknown session', scored('unknown', 0.5)],
      ['a close before the start', closed(ID, { closedAt: secondsAgo(121) })],
      ['a start 6 minutes ahead', started('new', { startedAt: minutesAhead(6) })],
      ['an event 6 minutes ahead', event({ timestamp: minutesAhead(6) })],
      ['a close 6 minutes ahead', closed(ID, { closedAt: minutesAhead(6) })],
      ['a score 6 minutes ahead', scored(ID, 0.5, { scoredAt: minutesAhead(6) })],
    ])('with %s is 400 and named by its index; nothing of its batch is kept', async (_what, bad) => {
      const before = await countSessions(tenant);
      const good = (n: number) => started(`never-${n}`);
      const answer = await server.ingest(tenant.id, [good(1), good(2), events(ID, [1, 2]), bad, good(3)]);
      expect({ status: answer.status, data: answer.body.error.data }).toEqual({
        status: 400,
        data: { code: 'BAD_REQUEST', httpStatus: 400, path: 'pipeline.ingest', factIndex: 3 },
      });
      expect(answer.body.error.message).toMatch(/\S/);
      expect(await countSessions(tenant)).toBe(before);
      expect(await readEventCount(tenant, ID)).toEqual({ total: 0, rows: 0, sum: 0 });
      expect(await readSession(tenant, ID)).toMatchObject({ status: 'Active', botScore: null });
    });

    it('about a session that starts only later in the batch is refused', async () => {
      const answer = await server.ingest(tenant.id, [closed('later'), started('later')]);
      expect([answer.status, answer.body.error.data.factIndex]).toEqual([400, 0]);
    });

    it('about another tenant’s session is refused like one about an unknown session', async () => {
      const other = await server.createTenant();
      expect((await server.ingest(other.id, [closed(ID)])).body.error).toEqual(
        (await server.ingest(other.id, [closed('unknown')])).body.error,
      );
    });

    it('may be up to 5 minutes ahead', async () => {
      const one = await server.createTenant();
      await accept(one, [
        started('s', { startedAt: minutesAhead(4) }),
        events('s', [1], { timestamp: minutesAhead(4) }),
        closed('s', { closedAt: minutesAhead(4.5) }),
        scored('s', 0.5, { scoredAt: minutesAhead(4) }),
      ]);
    });

    it('may close a session at the instant of its start', async () => {
      const one = await server.createTenant();
      const at = secondsAgo(60);
      await accept(one, [started('s', { startedAt: at }), closed('s', { closedAt: at })]);
    });

    it.each([
      'x'.repeat(256),
      '😀'.repeat(256),
      ' ',
      '...',
      'a b',
      'ä/%2F',
      '\u200d',
      "'; drop table sessions; --",
      '{"a":1}',
    ])('may have the id %s', async (id) => {
      const one = await server.createTenant();
      await accept(one, [started(id, { deviceFingerprint: id }), events(id, [1]), closed(id), scored(id, 0.9)]);
      expect(await readSession(one, id)).toMatchObject({ id, deviceFingerprint: id, status: 'Scored' });
      expect(await readDetections(one)).toMatchObject([{ sessionId: id }]);
    });

    it.each([
      ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
      ['2026-01-01T02:30:00+02:30', '2026-01-01T00:00:00.000Z'],
      ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123Z'],
      ['2026-01-01T00:00:00.9999Z', '2026-01-01T00:00:00.999Z'],
      ['2024-02-29T23:59:59.999-00:00', '2024-02-29T23:59:59.999Z'],
      ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
      ['0999-01-01T00:00:00.001Z', '0999-01-01T00:00:00.001Z'],
      ['0099-01-01T00:00:00.000Z', '0099-01-01T00:00:00.000Z'],
      ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
    ])('dated %s comes back as %s', async (startedAt, createdAt) => {
      const one = await server.createTenant();
      expect((await server.ingest(one.id, [started('s', { startedAt })])).status).toBe(200);
      expect((await readSession(one, 's')).createdAt).toBe(createdAt);
      // The same instant, spelled as the API answers it, is the same fact.
      expectCounts(await server.ingest(one.id, [started('s', { startedAt })]), 0, 1);
    });

    function nest(depth: number): unknown {
      let value: unknown = { end: 1 };
      for (let n = 1; n < depth; n++) value = { a: value };
      return value;
    }
  });
}
