import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import laboratory from '../../server/detection/laboratory.json';
import { RULE_SET_VERSION } from '../../server/detection/score';
import { findCourse } from '../../server/domain/courses';
import * as facts from '../support/facts';
import { countRead, explainStatement } from '../support/plans';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';
import { recordStatements } from '../support/statements';

// What stands next to a session for staff, and its evidence as a document.

const PAGE = 'https://lms.example.edu/courses/42/quizzes/1';
const COURSE = findCourse(PAGE)!.id;
const HOUR = '2026-03-01T10:';
const at = (minutesAndSeconds: string) => `${HOUR}${minutesAndSeconds}.000Z`;

let server: TestServer;
let staff: StaffClient;
let tenant: { id: string; key: string };
beforeAll(async () => {
  server = await startStaffServer();
  staff = await createStaffClient(server, 'viewer');
  tenant = await server.createTenant();
});
afterAll(() => server.stop());

const ask = (name: string, input: object, of = tenant) =>
  staff.query(`sessions.${name}`, input, { 'x-integration-id': of.id });
async function read(name: string, input: object) {
  const { status, body, text } = await ask(name, input);
  expect([name, status, text]).toEqual([name, 200, text]);
  return body.result.data;
}
async function send(...list: unknown[]) {
  const { status, text } = await server.ingest(tenant.id, list as never);
  expect([status, text]).toEqual([200, text]);
}
const begin = (id: string, startedAt: string, fields: Record<string, unknown> = {}) =>
  facts.started(id, { startedAt, pageUrl: PAGE, ...fields });

describe('the context of a session', () => {
  it('has earlier sessions of its user, other users of its device and the minute of its course', async () => {
    const device = { deviceFingerprint: 'device-1' };
    const correlate = (id: string, userId: string) =>
      facts.correlated(id, userId, { correlatedAt: at('59:00'), user: { id: userId, name: `Name of ${userId}` } });
    await send(
      ...[
        begin('first', at('01:00'), device),
        correlate('first', 'ada'),
        facts.closed('first', { closedAt: at('02:00') }),
      ],
      facts.happened('first', [
        { sequence: 1, timestamp: at('01:00'), eventCount: 4 },
        { sequence: 2, timestamp: at('01:59'), eventCount: 9 },
      ]),
      facts.scored('first', 0.2, { scoredAt: at('03:00') }),
      ...[begin('second', at('10:00'), device), correlate('second', 'ada')],
      ...[begin('other', at('10:59'), device), correlate('other', 'bob')],
      ...[begin('other-2', at('11:00'), device), correlate('other-2', 'bob')],
      ...[begin('unnamed', at('09:59'), device)],
      ...[begin('it', at('10:30'), device), correlate('it', 'ada')],
      ...[begin('later', at('12:00'), device), correlate('later', 'ada')],
    );
    const short = { botScore: null, riskLevel: null, verdict: null };
    const activity = Array.from({ length: 24 }, (_, part) => (part === 0 ? 4 : part === 23 ? 9 : 0));
    const ada = { userId: 'ada', userName: 'Name of ada' };
    const bob = { userId: 'bob', userName: 'Name of bob' };
    await server.call('POST', '/v1/sessions/first/label', { key: tenant.key, body: { verdict: 'bot' } });
    const second = { id: 'second', createdAt: at('10:00'), ...ada, ...short };
    expect(await read('getContext', { sessionId: 'it' })).toEqual({
      earlier: {
        userId: 'ada',
        sessions: [
          { ...second, durationSeconds: 0, activity: activity.map(() => 0) },
          {
            ...{ id: 'first', createdAt: at('01:00'), ...ada, botScore: 0.2, riskLevel: 'bot', verdict: 'bot' },
            ...{ durationSeconds: 60, activity },
          },
        ],
        ...{ total: 2, hasMore: false },
      },
      device: {
        fingerprint: 'device-1',
        users: [{ ...bob, sessionCount: 2, lastSeenAt: at('11:00') }],
        ...{ userCount: 1, unmatchedCount: 1, sessionCount: 7, hasMoreSessions: false },
      },
      neighbours: {
        ...{ courseId: COURSE, from: at('10:00'), to: at('11:00') },
        sessions: [{ id: 'other', createdAt: at('10:59'), ...bob, ...short }, second],
        ...{ total: 2, hasMore: false },
      },
    });
    expect((await read('getContext', { sessionId: 'first' })).earlier).toEqual({
      ...{ userId: 'ada', sessions: [], total: 0, hasMore: false },
    });
  });

  it('lacks what the session lacks', async () => {
    await send(begin('bare', at('20:00'), { pageUrl: 'https://lms.example.edu/' }));
    expect(await read('getContext', { sessionId: 'bare' })).toEqual({ earlier: null, device: null, neighbours: null });
    expect((await ask('getContext', { sessionId: 'nobody' })).status).toBe(404);
  });

  it('reads no more than it shows and counts, of a device, a course and a user with any number of sessions', async () => {
    const { sql } = server.database.db;
    const crowd = await server.createTenant();
    // One user for each device session, and all of them begin in one minute of one course.
    await sql`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
                            browser, fingerprint, user_id, course_id)
      select ${crowd.id}, 'ses-' || n, timestamptz '2026-03-01T10:00:00Z' + n * interval '10 ms', 'Scored', '', '', '', '', 'desktop',
             'Chrome', 'device', case when n % 2 = 0 then 'user' else 'user-' || n end, 'course'
        from generate_series(1, 3000) n`;
    const recorder = recordStatements(server.service.db);
    const { body } = await ask('getContext', { sessionId: 'ses-2998' }, crowd);
    const statements = recorder.take().filter(({ text }) => / sessions s|session_events/.test(text));
    recorder.stop();
    const { earlier, device, neighbours } = body.result.data;
    expect([earlier.sessions.length, earlier.total, earlier.hasMore]).toEqual([12, 200, true]);
    expect(device).toMatchObject({ userCount: 250, sessionCount: 500, hasMoreSessions: true });
    expect(device.users).toHaveLength(20);
    expect([neighbours.sessions.length, neighbours.total, neighbours.hasMore]).toEqual([20, 200, true]);
    expect(statements.length).toBeGreaterThanOrEqual(4);
    for (const statement of statements)
      for (const plan of ['custom', 'generic'] as const)
        for (const node of await explainStatement(sql, statement, plan))
          if (node['Relation Name'] === 'sessions' || node['Relation Name'] === 'session_events')
            expect([node['Index Name'], countRead(node) <= 502]).toEqual([expect.stringMatching(/^session/), true]);
  });
});

describe('the pages of a session', () => {
  const go = (sequence: number, second: string, url: string) => ({
    ...{ sequence, type: 'navigation', timestamp: at(second), url },
  });

  it('have the time for which each was in front', async () => {
    const hidden = { type: 'visibility', metadata: { state: 'hidden' }, url: PAGE };
    await send(
      begin('pages', at('30:00')),
      facts.happened('pages', [
        // Sequences follow the batches; times decide.
        { sequence: 1, ...hidden, timestamp: at('30:10') },
        go(2, '30:40', `${PAGE}/b`),
        { sequence: 3, type: 'mouse', timestamp: at('30:41'), durationMs: 4_000 },
        { sequence: 4, ...hidden, metadata: { state: 'visible' }, timestamp: at('30:20') },
      ]),
    );
    expect(await read('listPages', { sessionId: 'pages' })).toEqual({
      pages: [
        { url: PAGE, at: at('30:00'), spentMs: 30_000 },
        { url: `${PAGE}/b`, at: at('30:40'), spentMs: 5_000 },
      ],
      ...{ total: 2, hasMore: false, nextCursor: null },
    });
    expect((await ask('listPages', { sessionId: 'nobody' })).status).toBe(404);
    for (const cursor of [-1, 1.5, 2_001, 'x'])
      expect((await ask('listPages', { sessionId: 'pages', cursor })).status).toBe(400);
  });

  it('come in parts, and beyond 2,000 they are only said to be there', async () => {
    await send(begin('walks', at('40:00')));
    await server.database.db.sql`
      insert into session_events (integration_id, session_id, sequence, type, timestamp, url, event_count)
      select ${tenant.id}, 'walks', n, 'navigation', timestamptz '2026-03-01T10:40:00Z' + n * interval '1 s', 'https://x/' || n, 1
        from generate_series(1, 2100) n`;
    const seen: string[] = [];
    for (let cursor: number | null = 0; cursor !== null; ) {
      const page = await read('listPages', { sessionId: 'walks', cursor });
      expect([page.total, page.hasMore]).toEqual([2_000, true]);
      seen.push(...page.pages.map(({ url }: { url: string }) => url));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([PAGE, ...Array.from({ length: 1_999 }, (_, n) => `https://x/${n + 1}`)]);
  });
});

describe('the evidence report', () => {
  it('has everything that is known of a session, in UTC', async () => {
    const flags = ['zero-pressure', 'of-a-customer'];
    const found = [
      facts.finding('of-a-customer', { weight: 1, measured: 'often' }),
      facts.finding('zero-pressure', { group: 'integrity', weight: 4.1, measured: 0.98765, moments: [at('50:12')] }),
      facts.finding('no-approach', { state: 'notFound', weight: 1.5, measured: 0 }),
      facts.finding('uniform-typing', { state: 'notMeasured', weight: 2, measured: null, expected: null }),
    ];
    await send(
      begin('told', at('50:00'), { deviceFingerprint: 'device-9', country: 'DE' }),
      facts.happened('told', [{ sequence: 1, timestamp: at('50:30'), eventCount: 7 }]),
      facts.correlated('told', 'grace', {
        user: { id: 'grace', name: 'Grace Hopper', email: 'grace@example.edu' },
        ...{ confidence: 0.7, correlatedAt: at('50:05') },
      }),
      facts.scored('told', 0.5, { scoredAt: at('50:40'), ruleSetVersion: '2026.3' }),
      facts.scored('told', 0.91, {
        scoredAt: at('51:00'),
        ruleSetVersion: '2026.3',
        detectionFlags: flags,
        evidence: found,
      }),
      facts.closed('told', { closedAt: at('51:00') }),
      facts.anomaly('odd', { sessionId: 'told', detectedAt: at('51:01'), metadata: { distanceKm: 900 } }),
    );
    await server.call('POST', '/v1/users/grace/devices/device-9/confirm', { key: tenant.key });
    const analyst = await createStaffClient(server, 'analyst');
    const judged = { sessionId: 'told', verdict: 'bot', reasons: ['TooFast'], confidence: 'high', notes: 'Seen twice' };
    await analyst.mutate('sessions.setVerdict', judged, { 'x-integration-id': tenant.id });
    await server.call('PUT', '/v1/settings/risk-thresholds', { key: tenant.key, body: { mediumAt: 30, botAt: 95 } });
    const report = await read('getEvidenceReport', { sessionId: 'told' });
    await server.call('PUT', '/v1/settings/risk-thresholds', { key: tenant.key, body: { mediumAt: 40, botAt: 70 } });
    const instant = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(report).toMatchObject({
      ...{ generatedAt: instant, generatedBy: staff.email, timeZone: 'UTC', integration: { id: tenant.id } },
      session: {
        ...{ id: 'told', status: 'Scored', startedAt: at('50:00'), closedAt: at('51:00'), lastEventAt: at('50:30') },
        ...{ failureReason: null, firstPage: PAGE, origin: 'https://lms.example.edu', courseId: COURSE, country: 'DE' },
        eventCounts: { mouse: 7 },
      },
      score: {
        ...{ botScore: 0.91, riskLevel: 'bot', scoredAt: at('51:00'), ruleSetVersion: '2026.3' },
        thresholds: { mediumAt: 30, botAt: 95 },
      },
      label: { verdict: 'bot', confidence: 'high', notes: 'Seen twice', labeledAt: instant, labeledBy: analyst.email },
      laboratory: { ruleSetVersion: RULE_SET_VERSION, people: { count: 0, of: laboratory.people.of } },
      scores: { list: [{ botScore: 0.91, detectionFlags: flags }, { botScore: 0.5 }], hasMore: false },
      verdicts: {
        list: [
          {
            ...{ verdict: 'bot', isUndo: false, confidence: 'high', reasons: ['TooFast'], notes: 'Seen twice' },
            ...{
              author: { kind: 'Staff', name: analyst.email },
              botScore: 0.91,
              thresholds: { mediumAt: 40, botAt: 70 },
            },
          },
        ],
      },
      device: { fingerprint: 'device-9', type: 'desktop', userAgent: facts.CHROME, confirmedAt: instant },
      user: {
        ...{ id: 'grace', name: 'Grace Hopper', email: 'grace@example.edu', confidence: 0.7, matchedAt: at('50:05') },
        match: expect.stringContaining('learning platform'),
      },
      matches: { list: [{ userId: 'grace', confidence: 0.7, correlatedAt: at('50:05') }], hasMore: false },
      pages: { list: [{ url: PAGE, at: at('50:00'), spentMs: 30_000 }], total: 1, hasMore: false },
      anomalies: {
        list: [{ id: 'odd', anomalyType: 'ImpossibleTravel', metadata: { distanceKm: 900 } }],
        hasMore: false,
      },
    });
    const words = Object.fromEntries(report.findings.map((finding: { flag: string }) => [finding.flag, finding]));
    expect(Object.keys(words)).toEqual(['zero-pressure', 'uniform-typing', 'no-approach', 'of-a-customer']);
    expect(words['zero-pressure']).toMatchObject({
      ...{ state: 'found', measured: 0.98765, weight: 4.1, moments: [at('50:12')], alsoSeenWith: [] },
      meaning: expect.stringContaining('without pressure'),
      laboratory: laboratory.rules['zero-pressure'],
    });
    expect(words['no-approach'].alsoSeenWith).toEqual(
      expect.arrayContaining([expect.stringContaining('dictation and voice control')]),
    );
    expect(words['of-a-customer']).toMatchObject({ meaning: null, alsoSeenWith: [], laboratory: null });
    const limits = report.limits.doesNotShow.join('\n');
    for (const said of [
      'not proof',
      ...[laboratory.programs, laboratory.people].map(({ count, of }) => `${count} of ${of}`),
      'assistive technology',
      '1 rule was not measured',
      '2026.3',
    ])
      expect(limits).toContain(said);
    expect(JSON.stringify(report)).not.toMatch(/cheat|guilt/i);
  });

  it('of a session of which nothing is known says so', async () => {
    await send(begin('silent', at('55:00'), { pageUrl: 'https://lms.example.edu/' }));
    const report = await read('getEvidenceReport', { sessionId: 'silent' });
    expect(report).toMatchObject({
      ...{ label: null, user: null, findings: [], device: { fingerprint: null } },
      score: { botScore: null, riskLevel: null },
      pages: { list: [{ spentMs: null }], total: 1 },
    });
    expect(report.limits.doesNotShow).toContain('The session has no score.');
    expect((await ask('getEvidenceReport', { sessionId: 'nobody' })).status).toBe(404);
  });

  it('is bounded, and says that there is more', async () => {
    await send(begin('long', at('56:00')));
    const { sql } = server.database.db;
    const moment = sql`timestamptz '2026-03-01T10:56:00Z' + n * interval '1 s'`;
    await sql`insert into session_scores (integration_id, session_id, scored_at, bot_score, detection_flags)
      select ${tenant.id}, 'long', ${moment}, 0.5, '{}' from generate_series(1, 150) n`;
    await sql`insert into session_correlations (integration_id, session_id, correlated_at, user_id, confidence)
      select ${tenant.id}, 'long', ${moment}, 'ada', 0.5 from generate_series(1, 30) n`;
    await sql`insert into session_verdicts (integration_id, session_id, decided_at, label, actor_kind)
      select ${tenant.id}, 'long', ${moment}, 1, 'Staff' from generate_series(1, 150) n`;
    await sql`insert into anomalies (integration_id, id, type, severity, detected_at, session_id)
      select ${tenant.id}, 'many-' || n, 'SharedDevice', 'low', ${moment}, 'long' from generate_series(1, 60) n`;
    await sql`insert into session_events (integration_id, session_id, sequence, type, timestamp, url, event_count)
      select ${tenant.id}, 'long', n, 'navigation', ${moment}, 'https://x/' || n, 1 from generate_series(1, 300) n`;
    const { scores, verdicts, matches, pages, anomalies } = await read('getEvidenceReport', { sessionId: 'long' });
    const sizes = [scores, verdicts, matches, pages, anomalies].map(({ list, hasMore }) => [list.length, hasMore]);
    expect(sizes).toEqual([
      ...[
        [100, true],
        [100, true],
        [20, true],
      ],
      ...[
        [200, true],
        [50, true],
      ],
    ]);
    expect(pages.total).toBe(301);
    await send(begin('wordy', at('57:00'), { pageUrl: `${PAGE}?${'a'.repeat(1_000)}` }));
    const [{ url }] = (await read('getEvidenceReport', { sessionId: 'wordy' })).pages.list;
    expect([url.length < 350, url.endsWith(`… (${PAGE.length + 1_001} characters)`)]).toEqual([true, true]);
    // The latest come first.
    expect(scores.list[0].scoredAt > scores.list[1].scoredAt).toBe(true);
  });
});
