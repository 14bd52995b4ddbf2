import { describe, expect, it, vi } from 'vitest';
import { pruneSessions } from '../../../server/domain/retention';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import { daysAgo, minutesAgo, OLD_CHROME, type VisitFields } from '../../support/visits';
import { campus, LAPTOP, listTypes, PHONE, server, users, visit } from './shared-campus';

export function registerDeviceTests(): void {
  describe('SharedDevice', () => {
    it('names the new user of a device, once, with the number of other users', async () => {
      const found = await visit(
        { user: 'ada', device: 'a-device-of-ada', ago: 90 },
        { user: 'bob', device: 'a-device-of-ada', ago: 60, id: 'bobs' },
        { user: 'bob', device: 'a-device-of-ada', ago: 30 },
        { user: 'ada', device: 'a-device-of-ada', ago: 20 },
      );
      expect(found).toEqual([
        {
          id: expect.stringMatching(/^ano_[\w-]{22}$/),
          ...{ anomalyType: 'SharedDevice', severity: 'low', sessionId: 'bobs', userId: 'bob' },
          ...{ detectedAt: minutesAgo(60 - 0.05), deviceFingerprint: 'a-device-of-ada' },
          metadata: { deviceFingerprint: 'a-device', otherUserCount: 1 },
          ...{ status: 'Open', acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, resolvedBy: null },
          ...{ userName: expect.any(String), previousUserName: null, otherSession: null },
          session: { startedAt: minutesAgo(60), country: null, device: 'Chrome 142 on Windows' },
        },
      ]);
    });

    it('is worse the more others there are, and ends at ten: a machine in a laboratory', async () => {
      const found = await visit(...users(15));
      expect(found.map(({ severity }) => severity)).toEqual([
        ...['low', 'medium', 'medium', 'high', 'high', 'high', 'high', 'high'],
      ]);
      expect(found.map(({ metadata }) => metadata?.otherUserCount)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });

    it('forgets after 30 days', async () => {
      expect(await listTypes({ user: 'ada', ago: daysAgo(31) }, { user: 'bob' })).toEqual([]);
    });

    it('is never told of a user who was there long ago, or before the others', async () => {
      const days: [string, number][] = [
        ...([
          ['ada', 60],
          ['bob', 59],
          ['ada', 40],
          ['bob', 20],
          ['ada', 15],
          ['bob', 3],
          ['ada', 2],
        ] as [string, number][]),
      ];
      const visits = days.map(([user, ago]) => ({ user, ago: daysAgo(ago) }));
      expect(await listTypes(...visits)).toEqual(['SharedDevice low bob']);
    });

    it('reads only users who are known reliably', async () => {
      const unsigned = { confidence: 0.5 };
      expect(await listTypes({ user: 'ada', ...unsigned }, { user: 'bob', ago: 50, confidence: 0.7 })).toEqual([]);
      expect(await listTypes({ user: 'eve', ago: 40, ...unsigned })).toEqual([]);
      expect(await listTypes({ user: 'cyd', ago: 30, confidence: 0.7 })).toEqual(['SharedDevice low cyd']);
    });

    it('is not told of users who had the device before the site signed its users', async () => {
      const unsigned = ['ada', 'bob'].map((user, n) => ({ user, confidence: 0.5, ago: 90 - n }));
      expect(await listTypes(...unsigned, { user: 'ada', ago: 50 }, { user: 'bob', ago: 40 })).toEqual([]);
    });

    it('is not told of one person whom the LMS and the customer’s server name by ids of different kinds', async () => {
      expect(await listTypes({ user: '42', confidence: 0.7 }, { user: 'sis-7', ago: 50 })).toEqual([]);
      expect(await listTypes({ user: 'bob', ago: 40 })).toEqual(['SharedDevice low bob']);
    });

    it('leaves a device alone whose sessions retention has removed, of its user and of one who shares it', async () => {
      await server.service.db.sql`update integrations set plan = 'free' where id = ${campus.customer.id}`;
      const away = await listTypes({ ...LAPTOP, ago: daysAgo(40) }, { ...PHONE, ago: 90 });
      expect(away).toEqual([]);
      await pruneSessions(server.service.db);
      expect(await listTypes({ ...LAPTOP, user: 'bob', ago: 60 }, { ...LAPTOP, ago: 30 })).toEqual([]);
      // Whether they are folded or not.
      await foldSessionDeltas(server.service.db);
      expect(await listTypes({ ...LAPTOP, ago: 20 })).toEqual([]);
    });

    it('is found whichever of the two sessions is told first', async () => {
      expect(await listTypes({ user: 'bob', ago: 30 }, { user: 'ada', ago: 60 })).toEqual(['SharedDevice low bob']);
    });

    it('is told of a user whose facts come late, and what was told of a later one stays, without a warning', async () => {
      await visit({ user: 'ada', ago: 90 }, { user: 'bob', ago: 60 });
      const warn = vi.spyOn(server.service.log, 'warn');
      const found = await visit({ user: 'cyd', ago: 80 });
      expect(found.map(({ userId, metadata }) => [userId, metadata!.otherUserCount]).sort()).toEqual([
        ['bob', 1],
        ['cyd', 1],
      ]);
      expect(warn).not.toHaveBeenCalled();
      warn.mockRestore();
    });

    it('of a family computer is told once for each person', async () => {
      const family = ['ada', 'bob', 'cyd', 'bob', 'ada', 'cyd'].map((user, n) => ({ user, ago: 600 - n * 60 }));
      expect(await listTypes(...family)).toEqual(['SharedDevice low bob', 'SharedDevice medium cyd']);
    });

    it('is not told of a device that was confirmed as the user’s own', async () => {
      await campus.customer.confirm('bob', 'laptop');
      expect(await listTypes({ user: 'ada', ago: 90 }, { user: 'bob' }, { user: 'cyd', ago: 30 })).toEqual([
        'SharedDevice medium cyd',
      ]);
    });
  });

  describe('DeviceSwitch', () => {
    it('names a device of another kind, once', async () => {
      const found = await visit(
        { ...LAPTOP, ago: 600, minutes: 10 },
        { ...PHONE, ago: 300, id: 'first' },
        { ...LAPTOP, ago: 200 },
        { ...PHONE, ago: 100 },
      );
      expect(found).toMatchObject([
        {
          ...{ anomalyType: 'DeviceSwitch', severity: 'low', sessionId: 'first', userId: 'ada' },
          deviceFingerprint: 'phone',
          metadata: {
            ...{ device: 'Safari on iOS (mobile)', otherDevice: 'Chrome on Windows (desktop)' },
            minutesSinceOther: 290,
          },
        },
      ]);
    });

    it('is told of no device that the user has had for long', async () => {
      const days: [VisitFields, number][] = [
        ...([
          [LAPTOP, 60],
          [PHONE, 59],
          [PHONE, 35],
          [LAPTOP, 32],
          [PHONE, 20],
          [LAPTOP, 15],
          [PHONE, 3],
          [LAPTOP, 2],
        ] as [VisitFields, number][]),
      ];
      const found = await visit(...days.map(([device, ago]) => ({ ...device, ago: daysAgo(ago) })));
      expect(found.map(({ anomalyType, deviceFingerprint }) => `${anomalyType} ${deviceFingerprint}`)).toEqual([
        'DeviceSwitch phone',
      ]);
    });

    it('is medium soon after activity on the other device', async () => {
      const open = { ...LAPTOP, ago: 600, minutes: null, input: [570] };
      const ended = { ...LAPTOP, ago: 90, minutes: 1 };
      expect(await listTypes(open, ended, { ...PHONE, ago: 20, minutes: null })).toEqual(['DeviceSwitch medium ada']);
      expect((await campus.listAnomalies())[0]!.metadata).toMatchObject({ minutesSinceOther: 10 });
    });

    it('takes the end of a session without events for activity only if it came before the new device', async () => {
      const ended = { ...LAPTOP, ago: 300, minutes: 250 };
      expect(await listTypes({ ...PHONE, ago: 40 }, ended)).toEqual(['DeviceSwitch medium ada']);
      const endedLater = { ...LAPTOP, user: 'bob', device: 'laptop 2', ago: 300, minutes: 299 };
      expect(await listTypes({ ...PHONE, user: 'bob', device: 'phone 2', ago: 40 }, endedLater)).toContain(
        'DeviceSwitch low bob',
      );
      const ofBob = (await campus.listAnomalies()).find(({ userId }) => userId === 'bob');
      expect(ofBob!.metadata).toMatchObject({ minutesSinceOther: 260 });
    });

    it('is judged by the latest of several sessions that are open', async () => {
      const open = (ago: number, input: number) => ({ ...LAPTOP, ago, minutes: null, input: [input] });
      await visit(open(600, 1), open(300, 285), open(200, 1), { ...PHONE, ago: 180 });
      expect((await campus.listAnomalies())[0]!.metadata).toMatchObject({ minutesSinceOther: 19 });
    });

    it('is low if a page was only left open on the other device', async () => {
      const leftOpen = { ...LAPTOP, ago: 300, minutes: 270, input: [10] };
      expect(await listTypes(leftOpen, { ...PHONE, ago: 29 })).toEqual(['DeviceSwitch low ada']);
      expect((await campus.listAnomalies())[0]!.metadata).toMatchObject({ minutesSinceOther: 261 });
    });

    it.each<[string, VisitFields[]]>([
      ['a user’s first device', [PHONE]],
      ['cleared storage', [LAPTOP, { device: 'cleared' }]],
      ['cleared storage after an update of the browser', [{ userAgent: OLD_CHROME }, { device: 'cleared' }]],
      ['a frame whose storage is partitioned', [LAPTOP, { device: 'frame', ago: 59 }]],
      [
        'a phone whose storage was cleared',
        [
          { ...PHONE, ago: 90 },
          { ...PHONE, device: 'cleared' },
        ],
      ],
      ['a device that has no id', [LAPTOP, { ...PHONE, device: null }]],
      ['another user', [LAPTOP, { ...PHONE, user: 'bob' }]],
      ['an unsigned user', [LAPTOP, { ...PHONE, confidence: 0.5 }]],
      ['a user who was away for 31 days', [{ ...LAPTOP, ago: daysAgo(31) }, PHONE]],
      [
        'a device that the user had before the site signed its users',
        [{ ...PHONE, confidence: 0.5, ago: daysAgo(9) }, LAPTOP, { ...PHONE, ago: 30 }],
      ],
      [
        'a kind of device that the user had before it kept an id',
        [{ ...PHONE, device: null, ago: daysAgo(9) }, LAPTOP, { ...PHONE, ago: 30 }],
      ],
      [
        'a laptop that was not used for a holiday',
        [{ ...LAPTOP, ago: daysAgo(80) }, { ...PHONE, ago: daysAgo(20) }, LAPTOP],
      ],
    ])('leaves %s alone', async (_, visits) => {
      expect(await listTypes(...visits)).toEqual([]);
    });

    it('is found whichever of the two sessions is told first', async () => {
      expect(await listTypes({ ...PHONE, ago: 50 }, { ...LAPTOP, ago: 55 })).toEqual(['DeviceSwitch medium ada']);
    });

    it('is not told of a device that was confirmed as the user’s own', async () => {
      await campus.customer.confirm('ada', 'phone');
      expect(await listTypes(LAPTOP, { ...PHONE, ago: 30 })).toEqual([]);
    });
  });
}
