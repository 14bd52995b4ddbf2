import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import type { Query } from '../../db/client';
import * as schema from '../../db/schema';
import type { DomainContext } from '../../server/domain/context';
import { writeUserExport } from '../../server/domain/user-export';
import { Customer } from '../support/customer';
import { ADA, admin, BEN, createAda, makeUserPath, server, shareErasureServer } from '../support/erasures';
import * as facts from '../support/facts';

// A person's data as one file.

shareErasureServer();

/** Lists the objects in a JSON value, and itself if it is one. */
function listObjects(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(listObjects);
  return Array.isArray(value) ? inside : [value as Record<string, unknown>, ...inside];
}

describe('an export', () => {
  it('has all that is held about the user, as one file', async () => {
    const customer = await createAda();
    for (const name of ['users.confirmDevice', 'users.revokeDevice']) {
      const device = { userId: ADA.id, fingerprint: 'phone' };
      expect((await admin.mutate(name, device, { 'x-integration-id': customer.id })).status).toBe(200);
    }
    const answer = await customer.get(makeUserPath(ADA.id, 'export'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="user lms_ada lovelace-4711.json"/,
    );
    const { data } = answer.body;
    expect(data.user).toEqual(ADA);
    expect(data.sessions.map(({ id }: { id: string }) => id)).toEqual(['s1', 's2']);
    expect(data.sessions[0]).toMatchObject({
      labelNotes: `ask ${ADA.name}`,
      events: [{ url: ADA.url }],
      scores: [{ botScore: 0.95 }],
    });
    expect(data.devices).toMatchObject([{ fingerprint: 'laptop' }]);
    expect(data.anomalies).toMatchObject([{ id: 'a1', metadata: { email: ADA.email } }]);
    expect(data.writing).toMatchObject([{ sessionId: 'w1' }]);
    expect(data.alerts).toMatchObject([{ id: 'al1' }]);
    expect(data.webhookEvents.map(({ type }: { type: string }) => type).sort()).toEqual([
      ...[
        'AlertTriggered',
        'BotDetected',
        'ReportReady',
        'SessionAnomaly',
        'SessionAnomaly',
        'SessionCorrelated',
        'SessionCorrelated',
      ],
      'WritingSessionScored',
    ]);
    expect(data.auditEntries.map(({ action }: { action: string }) => action)).toEqual([
      ...['DeviceConfirmed', 'AlertRuleCreated', 'ReportScheduled'],
      ...['DeviceConfirmed', 'DeviceConfirmationRevoked'],
    ]);
    expect(data.auditEntries.at(-1).details).toEqual({ fingerprint: 'phone', confirmedAt: expect.any(String) });
    for (const name of [admin.email, admin.id]) expect(answer.text).not.toContain(name);
    // With the ellipsis of a masked key: four letters alone are in some texts by chance.
    expect(answer.text).not.toContain(`…${customer.key.slice(-4)}`);
  });

  it('has the matches with sessions that others had afterwards, in one tab, and not those of the others', async () => {
    const customer = await createAda();
    await customer.accept([
      facts.started('shared'),
      facts.correlated('shared', ADA.id, { user: ADA, correlatedAt: facts.secondsAgo(19) }),
      facts.correlated('shared', BEN.id, { user: BEN, correlatedAt: facts.secondsAgo(9) }),
    ]);
    const { data } = (await customer.get(makeUserPath(ADA.id, 'export'))).body;
    expect(data.matches).toEqual([
      {
        sessionId: 'shared',
        userId: ADA.id,
        confidence: expect.any(Number),
        correlatedAt: expect.any(String),
        contextId: null,
      },
    ]);
    expect(data.sessions.map(({ id }: { id: string }) => id)).toEqual(['s1', 's2']);
    const ben = (await customer.get(makeUserPath(BEN.id, 'export'))).body.data;
    expect(ben.sessions.map(({ id }: { id: string }) => id).sort()).toEqual(['s3', 'shared']);
    expect(ben.sessions.at(-1).matches).toMatchObject([{ userId: BEN.id }]);
    expect(ben.matches).toEqual([]);
  });

  it('has rows of each table that names users by their ids', async () => {
    const { data } = (await (await createAda()).get(makeUserPath(ADA.id, 'export'))).body;
    const rows = listObjects(data).filter(({ userId }) => userId === ADA.id);
    // Sessions have their parts besides, the deltas repeat them, and the row of an erasure is a receipt.
    const others = ['sessions', 'session_deltas', 'user_erasures'];
    const missing = Object.values(schema as Record<string, unknown>)
      .filter((table) => is(table, PgTable))
      .filter((table) => 'userId' in getTableColumns(table) && !others.includes(getTableName(table)))
      .filter((table) => !rows.some((row) => Object.keys(row).every((name) => name in getTableColumns(table))))
      .map((table) => getTableName(table));
    expect(missing).toEqual([]);
  });

  it('has the scores of texts that were written in a session of the user before somebody was known, unless others had it', async () => {
    const customer = await createAda();
    const write = (id: string, browsingSessionId: string) => facts.writing(id, 0.2, { browsingSessionId });
    await customer.accept([
      ...[facts.started('alone'), write('w-alone', 'alone'), write('w-alone-too', 'alone')],
      facts.correlated('alone', ADA.id, { user: ADA }),
      ...[facts.started('two'), write('w-two', 'two')],
      facts.correlated('two', BEN.id, { user: BEN, correlatedAt: facts.secondsAgo(19) }),
      facts.correlated('two', ADA.id, { user: ADA, correlatedAt: facts.secondsAgo(9) }),
    ]);
    const { sessions, writing } = (await customer.get(makeUserPath(ADA.id, 'export'))).body.data;
    const written = sessions.flatMap((session: { id: string; writing: { sessionId: string }[] }) =>
      session.writing.map(({ sessionId }) => `${session.id} ${sessionId}`),
    );
    expect(written).toEqual(['alone w-alone', 'alone w-alone-too']);
    expect(writing).toMatchObject([{ sessionId: 'w1' }]);
  });

  it('has each of many scores of texts once, also those of one text and those of one time', async () => {
    const customer = await Customer.create(server);
    const texts = ['w0', 'w1', 'w2'];
    const times = Array.from({ length: 67 }, (_, n) => facts.secondsAgo(100 - n));
    await customer.accept([
      facts.started('s'),
      ...times.flatMap((scoredAt) => texts.map((id) => facts.writing(id, 0.2, { browsingSessionId: 's', scoredAt }))),
      facts.correlated('s', ADA.id, { user: ADA }),
    ]);
    const [session] = (await customer.get(makeUserPath(ADA.id, 'export'))).body.data.sessions;
    const keys = session.writing.map(
      ({ sessionId, scoredAt }: Record<string, string>) => `${new Date(scoredAt!).toISOString()} ${sessionId}`,
    );
    expect(keys).toEqual(times.flatMap((time) => texts.map((id) => `${time} ${id}`)));
  });

  it('has rows as they are stored, and nothing of how they were read', async () => {
    const { data } = (await (await createAda()).get(makeUserPath(ADA.id, 'export'))).body;
    const fieldsOf = ([first]: object[]) => Object.keys(first!).sort().join(' ');
    const [session] = data.sessions;
    expect(session).not.toHaveProperty('key');
    expect(fieldsOf(session.events)).toBe('durationMs eventCount metadata sequence sessionId timestamp type url');
    expect(fieldsOf(session.scores)).toBe(
      'botScore detectionFlags evidence ruleSetVersion scoredAt segments sessionId',
    );
    expect(fieldsOf(session.matches)).toBe('confidence contextId correlatedAt sessionId userId');
    expect(fieldsOf(session.verdicts)).toBe(
      'actorKind botAt botScore confidence decidedAt isUndo label mediumAt notes reasons ruleSetVersion sessionId',
    );
    expect(fieldsOf(data.devices)).toBe('confirmedAt fingerprint firstConfirmedAt notes userId');
    expect(fieldsOf(data.anomalies)).toBe(
      'acknowledgedAt detectedAt fingerprint id metadata resolvedAt sessionId severity type userId',
    );
    expect(fieldsOf(data.writing)).toBe(
      'aiScore browsingSessionId documentId evidence scoredAt sessionId userId wordCount',
    );
    expect(fieldsOf(data.alerts)).toBe(
      'acknowledgedAt id message resolvedAt ruleId severity triggeredAt url windowEnd windowStart',
    );
    expect(fieldsOf(data.webhookEvents)).toBe('createdAt ended id payload position type');
    expect(fieldsOf(data.auditEntries)).toBe('action actorKind details id occurredAt subjectId');
  });

  it('has each entry of a long audit log that mentions the user once', async () => {
    const customer = await createAda();
    await server.database.db.sql`
      insert into audit_entries (id, occurred_at, action, actor_kind, integration_id, subject_id, details)
      select 'aud_many_' || n, now() - (n % 3) * interval '1 hour', 'SessionLabeled', 'ApiKey', ${customer.id}, 'other',
             jsonb_build_object('n', n, 'notes', case when n % 500 = 0 then ${ADA.name} else 'nobody' end)
        from generate_series(1, 5000) n`;
    const { data } = (await customer.get(makeUserPath(ADA.id, 'export'))).body;
    const many = data.auditEntries.filter(({ subjectId }: { subjectId: string }) => subjectId === 'other');
    const found = many.map(({ details }: { details: { n: number } }) => details.n);
    expect(found.sort((a: number, b: number) => a - b)).toEqual(Array.from({ length: 10 }, (_, i) => 500 * (i + 1)));
  });

  it('reads what a session has in pieces, however much that is', async () => {
    const customer = await createAda();
    const { sql } = server.database.db;
    // A page of somebody who wants the export to fail, and a program that labels again and again.
    await sql`
      insert into session_events (integration_id, session_id, sequence, type, timestamp, url, event_count)
      select ${customer.id}, 's1', n, 'navigation', now(), 'https://lms.example.edu/' || repeat('x', 2000), 1
        from generate_series(1, 1999) n`;
    await sql`
      insert into session_verdicts (integration_id, session_id, decided_at, label, notes, actor_kind)
      select ${customer.id}, 's1', now(), 1, repeat('x', 1000), 'ApiKey' from generate_series(1, 1000) n`;
    const context = { db: server.service.db, integration: { id: customer.id } } as DomainContext;
    const pieces: string[] = [];
    for await (const piece of writeUserExport(context, ADA.id)) pieces.push(piece);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(600_000);
    const [session, other] = JSON.parse(pieces.join('')).sessions;
    expect(session.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([...Array(2000).keys()]);
    expect(session.verdicts).toHaveLength(1001);
    expect(other).toMatchObject({ id: 's2', events: [], scores: [] });
  });

  it('looks through long events a few at a time', async () => {
    const customer = await createAda();
    await server.database.db.sql`
      insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
      select ${customer.id}, 'evt_long_' || n, 'SessionAnomaly', 'long ' || n,
             json_build_object('userId', ${ADA.id}::text, 'metadata', repeat('x', 16000))::text, now()
        from generate_series(1, 600) n`;
    const sizes: number[] = [];
    const query: Query = async <Found extends object>(...asked: Parameters<Query>) => {
      const rows = await server.service.db.query<Found>(...asked);
      sizes.push(JSON.stringify(rows).length);
      return rows;
    };
    const context = { db: { ...server.service.db, query }, integration: { id: customer.id } } as DomainContext;
    let text = '';
    for await (const piece of writeUserExport(context, ADA.id)) text += piece;
    const long = JSON.parse(text).webhookEvents.filter(({ id }: { id: string }) => id.startsWith('evt_long_'));
    expect(new Set(long.map(({ id }: { id: string }) => id)).size).toBe(600);
    expect(long).toHaveLength(600);
    expect(Math.max(...sizes)).toBeLessThan(10_000_000);
  });

  it('has each of many sessions once, also of those that began together', async () => {
    const customer = await Customer.create(server);
    const ids = Array.from({ length: 9 }, (_, n) => `many-${n}`);
    const startedAt = facts.secondsAgo(60);
    await customer.accept(
      ids.flatMap((id) => [facts.started(id, { startedAt }), facts.correlated(id, ADA.id, { user: ADA })]),
    );
    const { sessions } = (await customer.get(makeUserPath(ADA.id, 'export'))).body.data;
    expect(sessions.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  it('has the anomalies of a session from before somebody was known, and none about others in it', async () => {
    const customer = await Customer.create(server);
    await customer.accept([
      ...[facts.started('late'), facts.anomaly('of-nobody', { sessionId: 'late' })],
      facts.anomaly('of-ben', { sessionId: 'late', userId: BEN.id }),
      facts.correlated('late', ADA.id, { user: ADA }),
    ]);
    const { sessions, anomalies } = (await customer.get(makeUserPath(ADA.id, 'export'))).body.data;
    expect(sessions).toMatchObject([{ id: 'late', anomalies: [{ id: 'of-nobody' }] }]);
    expect(anomalies).toEqual([]);
  });

  it('is there for everybody of whom something is held, be it one row, and for nobody else', async () => {
    const customer = await Customer.create(server);
    await customer.post(makeUserPath('confirmed', 'devices', 'laptop', 'confirm'), {});
    await customer.accept([facts.writing('w', 0.4, { userId: 'writer' }), facts.anomaly('a', { userId: 'odd' })]);
    const read = async (id: string) => (await customer.get(makeUserPath(id, 'export'))).body.data;
    expect(await read('confirmed')).toMatchObject({ user: null, devices: [{ fingerprint: 'laptop' }] });
    expect(await read('writer')).toMatchObject({ user: null, writing: [{ sessionId: 'w' }] });
    expect(await read('odd')).toMatchObject({ user: null, anomalies: [{ id: 'a' }] });
    expect((await customer.get(makeUserPath('nobody', 'export'))).status).toBe(404);
  });

  it('is 404 for a user of another integration', async () => {
    await createAda();
    const other = await Customer.create(server);
    expect((await other.get(makeUserPath(ADA.id, 'export'))).status).toBe(404);
  });
});
