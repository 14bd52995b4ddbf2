import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Customer, pathOf } from '../support/customer';
import { OpenApiDocument } from '../support/document';
import { anomaly, closed, correlated, secondsAgo, started } from '../support/facts';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';

let server: TestServer;
let receiver: Receiver;
let customer: Customer;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
});
beforeEach(async () => {
  customer = await Customer.create(server);
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

/** Reads the payloads of a type of event by natural key: anomalies by id, correlations by time and session. */
async function readPayloads(type: 'SessionAnomaly' | 'SessionCorrelated', of = customer) {
  const rows = await server.database.db.sql`
    select payload from domain_events where integration_id = ${of.id} and type = ${type} order by natural_key`;
  return rows.map((row) => JSON.parse(row.payload));
}
const courseOf = async (sessionId: string) => (await customer.session(sessionId)).courseId;

describe('the metadata of an anomaly', () => {
  const FINGERPRINT = '0123456789abcdef';
  const tellOne = async (fields: Record<string, unknown>) => {
    await customer.accept([anomaly('a', { anomalyType: 'SharedDevice', deviceFingerprint: FINGERPRINT, ...fields })]);
    const [payload] = await readPayloads('SessionAnomaly');
    return payload.metadata;
  };

  it('of SharedDevice shows the fingerprint cut to 8 characters, wherever it occurs', async () => {
    const metadata = {
      deviceFingerprint: FINGERPRINT,
      list: [FINGERPRINT, [FINGERPRINT, { deep: FINGERPRINT, n: 1 }], null, true],
      object: { a: { b: { [FINGERPRINT]: FINGERPRINT } } },
      longer: `${FINGERPRINT}0`,
      within: `Device ${FINGERPRINT} is ${FINGERPRINT}, used by 3`,
      address: { [`/devices/${FINGERPRINT}?tab=1`]: `fp_${FINGERPRINT}` },
      shorter: FINGERPRINT.slice(0, -1),
      upper: FINGERPRINT.toUpperCase(),
    };
    const { shorter, upper } = metadata;
    expect(await tellOne({ metadata })).toEqual({
      deviceFingerprint: '01234567',
      list: ['01234567', ['01234567', { deep: '01234567', n: 1 }], null, true],
      object: { a: { b: { '01234567': '01234567' } } },
      longer: '012345670',
      within: 'Device 01234567 is 01234567, used by 3',
      address: { '/devices/01234567?tab=1': 'fp_01234567' },
      ...{ shorter, upper },
    });
  });

  it.each([[null], [undefined], [{}]])('of SharedDevice that is %j gets the cut fingerprint', async (metadata) => {
    expect(await tellOne({ metadata })).toEqual({ deviceFingerprint: '01234567' });
  });

  it('of SharedDevice cuts by characters, not by UTF-16 units, and leaves a short one whole', async () => {
    expect(await tellOne({ deviceFingerprint: '😀'.repeat(10) })).toEqual({ deviceFingerprint: '😀'.repeat(8) });
    const other = await Customer.create(server);
    await other.accept([anomaly('a', { anomalyType: 'SharedDevice', deviceFingerprint: 'short' })]);
    expect(await readPayloads('SessionAnomaly', other)).toMatchObject([{ metadata: { deviceFingerprint: 'short' } }]);
  });

  it('of SharedDevice also cuts the session’s fingerprint if the fact names another', async () => {
    await customer.accept([
      started('s', { deviceFingerprint: 'fingerprint-of-s' }),
      anomaly('a', {
        ...{ anomalyType: 'SharedDevice', sessionId: 's', deviceFingerprint: FINGERPRINT },
        metadata: { devices: [FINGERPRINT, 'fingerprint-of-s'] },
      }),
    ]);
    const [payload] = await readPayloads('SessionAnomaly');
    expect(payload).toMatchObject({ metadata: { devices: ['01234567', 'fingerpr'], deviceFingerprint: '01234567' } });
  });

  it('of SharedDevice cuts a fingerprint that contains another one, and one with signs of patterns', async () => {
    const metadata = { deviceFingerprint: `$&$1.*${FINGERPRINT}`, text: `$&$1.*${FINGERPRINT} or ${FINGERPRINT}` };
    expect(await tellOne({ metadata })).toEqual({ deviceFingerprint: '$&$1.*01', text: '$&$1.*01 or 01234567' });
  });

  it('of SharedDevice leaves texts whole in which a short fingerprint or a long text under its name stands', async () => {
    const long = 'x'.repeat(513);
    const texts = ['a short one', `${long} and more`];
    const metadata = { deviceFingerprint: long, texts, copies: ['short', long] };
    const fields = { deviceFingerprint: 'short', metadata };
    expect(await tellOne(fields)).toEqual({ deviceFingerprint: 'xxxxxxxx', texts, copies: ['short', 'xxxxxxxx'] });
  });

  it('of SharedDevice cuts the fingerprint that it names, if the fact names none or another', async () => {
    const named = 'fedcba9876543210';
    const metadata = { deviceFingerprint: named, copies: [named, FINGERPRINT] };
    expect(await tellOne({ metadata })).toEqual({ deviceFingerprint: 'fedcba98', copies: ['fedcba98', '01234567'] });
    const other = await Customer.create(server);
    await other.accept([anomaly('a', { anomalyType: 'SharedDevice', metadata })]);
    expect(await readPayloads('SessionAnomaly', other)).toMatchObject([
      { metadata: { deviceFingerprint: 'fedcba98', copies: ['fedcba98', FINGERPRINT] } },
    ]);
  });

  it('of other types is not changed', async () => {
    const metadata = { deviceFingerprint: FINGERPRINT, list: [FINGERPRINT], [FINGERPRINT]: 1 };
    expect(await tellOne({ anomalyType: 'DeviceSwitch', metadata })).toEqual(metadata);
    await customer.accept([anomaly('b', { deviceFingerprint: FINGERPRINT })]);
    expect(await readPayloads('SessionAnomaly')).toMatchObject([{}, { metadata: null }]);
  });

  it.each(['High', 'MEDIUM', 'low'])('comes with the severity %s in lower case', async (severity) => {
    await tellOne({ severity });
    expect(await readPayloads('SessionAnomaly')).toMatchObject([{ severity: severity.toLowerCase() }]);
  });
});

describe('the event of a correlation', () => {
  it('names the fact’s context, else the course of the session, else none', async () => {
    const [early, late] = [secondsAgo(30), secondsAgo(20)];
    await customer.accept([
      started('in-course'),
      started('nowhere', { pageUrl: 'https://lms.example.edu/' }),
      correlated('in-course', 'u', { correlatedAt: early, contextId: 'from-the-fact' }),
      correlated('nowhere', 'u', { correlatedAt: early, contextId: null }),
      correlated('in-course', 'u', { correlatedAt: late }),
      correlated('nowhere', 'u', { correlatedAt: late, contextId: 'from-the-fact' }),
    ]);
    const courseId = await courseOf('in-course');
    expect(courseId).toMatch(/^[0-9a-f]{16}$/);
    const contextIds = (await readPayloads('SessionCorrelated')).map(({ contextId }) => contextId);
    expect(contextIds).toEqual(['from-the-fact', null, courseId, 'from-the-fact']);
  });

  it('is sent only if the correlation is the latest: an older one that arrives late sends none', async () => {
    const minute = secondsAgo(600).slice(0, 17);
    const match = (second: number, id: string) => correlated('s', id, { correlatedAt: `${minute}${second}.000Z` });
    await customer.accept([started('s'), match(20, 'u'), match(10, 'old'), match(40, 'v')]);
    await customer.accept([match(30, 'late')]);
    expect((await readPayloads('SessionCorrelated')).map(({ userId }) => userId)).toEqual(['u', 'v']);
  });
});

describe('deliveries', () => {
  const SCHEMA = ['post', 'requestBody', 'content', 'application/json', 'schema'];

  it('carry the payloads that the document describes', async () => {
    const document = new OpenApiDocument((await server.call('GET', '/openapi/v3.json')).body);
    const secrets = new Map<string, string>();
    for (const eventType of ['SessionCorrelated', 'SessionAnomaly']) {
      const { body } = await customer.post('/v1/webhooks', { url: `${receiver.url}/hook`, eventType });
      secrets.set(eventType, body.data.secret);
    }
    const [correlatedAt, detectedAt] = [secondsAgo(20), secondsAgo(10)];
    const shared = { anomalyType: 'SharedDevice', severity: 'Low', sessionId: 's', detectedAt };
    await customer.confirm('confirmed', 'fp-confirmed');
    const counts = await customer.tell([
      started('s', { deviceFingerprint: 'fingerprint-of-s' }),
      correlated('s', 'u', { correlatedAt, confidence: 0.25 }),
      anomaly('a', { ...shared, metadata: { otherUserCount: 3 } }),
      anomaly('hidden', { anomalyType: 'DeviceSwitch', userId: 'confirmed', deviceFingerprint: 'fp-confirmed' }),
      anomaly('bare', { detectedAt }),
      closed('s'),
    ]);
    expect(counts).toEqual({ accepted: 5, duplicates: 0, suppressed: 1 });
    await receiver.waitFor(3);
    const received = receiver.received.map((request) => {
      const eventType = String(request.headers['x-webhook-event']);
      expectSigned(request, secrets.get(eventType)!);
      const payload = JSON.parse(request.body);
      document.expectValid(payload, 'webhooks', eventType, ...SCHEMA);
      return { eventType, ...payload };
    });
    const byKey = received.toSorted((a, b) => String(a.anomalyId).localeCompare(String(b.anomalyId)));
    expect(byKey).toEqual([
      {
        eventType: 'SessionAnomaly',
        anomalyId: 'a',
        anomalyType: 'SharedDevice',
        severity: 'low',
        detectedAt,
        sessionId: 's',
        userId: 'u',
        metadata: { otherUserCount: 3, deviceFingerprint: 'fingerpr' },
      },
      {
        eventType: 'SessionAnomaly',
        anomalyId: 'bare',
        anomalyType: 'ImpossibleTravel',
        severity: 'high',
        detectedAt,
        sessionId: null,
        userId: null,
        metadata: null,
      },
      {
        eventType: 'SessionCorrelated',
        sessionId: 's',
        userId: 'u',
        correlationConfidence: 0.25,
        correlatedAt,
        contextId: await courseOf('s'),
      },
    ]);
    // All other deliveries have ended, and the suppressed anomaly has none.
    await waitUntil(async () => {
      const pending = await server.database.db.sql`
        select status from webhook_deliveries where integration_id = ${customer.id} and status = 'Pending'`;
      return pending.length === 0;
    });
    expect(receiver.received).toHaveLength(3);
    expect((await customer.get(`${pathOf('v1', 'users', 'confirmed')}/sessions`)).status).toBe(404);
  });
});
