import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../server/pipeline/facts';
import { shorten } from '../../support/campus';
import { makeVisit, minutesAgo, type VisitFields } from '../../support/visits';
import { campus, LAPTOP, LONDON, listTypes, PHONE, SYDNEY } from './shared-campus';

export function registerUserTests(): void {
  describe('UserSwitch', () => {
    const match = (userId: string, ago: number, confidence = 1): Fact => ({
      ...{ kind: 'sessionCorrelated', sessionId: 's', user: { id: userId, name: userId } },
      ...{ confidence, correlatedAt: minutesAgo(ago) },
    });
    const matched = async (...matches: Fact[]) => {
      await campus.send(makeVisit({ id: 's', user: null, ago: 600, minutes: null, device: null }));
      for (const fact of matches) await campus.send([fact]);
      return campus.listAnomalies();
    };

    it('names the later user of a session, who has it then', async () => {
      const found = await matched(match('ada', 500), match('bob', 480), match('ada', 450), match('bob', 440));
      expect(found).toMatchObject([
        {
          ...{ anomalyType: 'UserSwitch', severity: 'high', sessionId: 's', userId: 'bob' },
          ...{ detectedAt: minutesAgo(480), metadata: { previousUserId: 'ada', minutesBetween: 20 } },
        },
      ]);
      expect(await campus.customer.session('s')).toMatchObject({ userId: 'bob' });
    });

    it('is medium after half an hour, and told for each further user', async () => {
      expect(shorten(await matched(match('ada', 500), match('bob', 400), match('cyd', 399)))).toEqual([
        'UserSwitch medium bob',
        'UserSwitch high cyd',
      ]);
    });

    it('is not told of a shared machine, as of the tablets of a class', async () => {
      for (let n = 0; n < 10; n++)
        await campus.send(makeVisit({ id: `v${n}`, user: `user-${n}`, ago: 900 - n, minutes: null, device: 'tablet' }));
      await campus.send(makeVisit({ id: 's', user: null, ago: 600, minutes: null, device: 'tablet' }));
      for (const fact of [match('ada', 500), match('bob', 480)]) await campus.send([fact]);
      expect(shorten(await campus.listAnomalies()).filter((text) => text.startsWith('UserSwitch'))).toEqual([]);
    });

    it('is not told of one person whom the LMS and the customer’s server name by ids of different kinds', async () => {
      expect(shorten(await matched(match('42', 500, 0.7), match('sis-7', 499)))).toEqual([]);
      await campus.send([match('bob', 480)]);
      expect(shorten(await campus.listAnomalies())).toEqual(['UserSwitch high bob']);
    });

    it('is not told of a user whom anybody could have named, nor of a better match of the same user', async () => {
      expect(shorten(await matched(match('ada', 500), match('eve', 490, 0.5), match('ada', 480, 0.7)))).toEqual([]);
    });
  });

  describe('a session that another user had before', () => {
    /** A session that ada or another user had first, and bob after 20 minutes. */
    const takeOver = (before: string | null, fields: VisitFields = {}) => [
      ...makeVisit({ ...LAPTOP, id: 'taken', user: before, ago: 60, minutes: null, ...fields }),
      ...makeMatch('taken', 'bob', 40),
    ];
    const makeMatch = (sessionId: string, userId: string, ago: number, confidence = 1): Fact[] => [
      {
        kind: 'sessionCorrelated',
        sessionId,
        user: { id: userId, name: userId },
        confidence,
        correlatedAt: minutesAgo(ago),
      },
    ];
    const find = async (type: string, ...facts: Fact[]) => {
      await campus.send(facts);
      return shorten((await campus.listAnomalies()).filter(({ anomalyType }) => anomalyType === type));
    };
    const onPhone = (fields: VisitFields) => makeVisit({ ...PHONE, user: 'bob', ago: 59, minutes: 40, ...fields });

    it.each<[string, string | null, number[], number[], string[]]>([
      ['is not taken for the later user’s input', 'ada', [5], [4], []],
      ['is the later user’s from the match on', 'ada', [5, 25], [24], ['ConcurrentSessions medium bob']],
      ['is the user’s from its start if nobody else had it', null, [5], [4], ['ConcurrentSessions medium bob']],
    ])('%s', async (_, before, input, onOther, expected) => {
      const facts = [...takeOver(before, { input }), ...onPhone({ input: onOther })];
      expect(await find('ConcurrentSessions', ...facts)).toEqual(expected);
    });

    it('is the later user’s from their first match on, also if a later one is surer', async () => {
      await campus.send(makeVisit({ ...LAPTOP, id: 'taken', ago: 60, minutes: null, input: [25], confidence: 0.7 }));
      await campus.send([...makeMatch('taken', 'bob', 40, 0.7), ...makeMatch('taken', 'bob', 30, 0.8)]);
      expect(await find('ConcurrentSessions', ...onPhone({ input: [24], confidence: 0.7 }))).toEqual([
        'ConcurrentSessions medium bob',
      ]);
    });

    it('is not taken for that of somebody whom a page only claimed before', async () => {
      await campus.send(
        makeVisit({ ...LAPTOP, id: 's', user: 'eve', confidence: 0.5, minutes: null, location: LONDON }),
      );
      await campus.send(makeMatch('s', 'bob', 40));
      expect(await find('ImpossibleTravel', ...onPhone({ location: SYDNEY }))).toEqual(['ImpossibleTravel high bob']);
    });

    it.each<[string | null, string[]]>([
      ['ada', []],
      [null, ['ImpossibleTravel high bob']],
    ])('does not say where the later user was when it began: %s', async (before, expected) => {
      const facts = [...onPhone({ location: SYDNEY }), ...takeOver(before, { location: LONDON })];
      expect(await find('ImpossibleTravel', ...facts)).toEqual(expected);
    });
  });

  describe('the user 1234 of two platforms', () => {
    const [MOODLE, CANVAS] = ['https://moodle.example.edu', 'https://canvas.example.edu'];
    const read = { user: '1234', confidence: 0.7 };
    /** What a person on both platforms does: travels too fast, changes the device, and types on both at once. */
    const visits = (one: VisitFields, other: VisitFields): VisitFields[] => [
      { ...LAPTOP, ago: 60, minutes: 20, input: [3, 9], location: LONDON, origin: MOODLE, ...one },
      { ...PHONE, ago: 59, minutes: 20, input: [8, 12], location: SYDNEY, origin: CANVAS, ...other },
    ];
    const FOUND = ['ConcurrentSessions medium 1234', 'DeviceSwitch medium 1234', 'ImpossibleTravel high 1234'];

    it.each<[string, VisitFields, VisitFields, string[]]>([
      ['is not taken for one person if both ids were read from pages', read, read, []],
      ['is not taken for one person if one id was read from a page', read, { ...read, confidence: 0.8 }, []],
      ['is one person if the customer’s server signed both ids', { user: '1234' }, { user: '1234' }, FOUND],
      ['is one person on one platform', read, { ...read, origin: MOODLE }, FOUND],
    ])('%s', async (_, one, other, expected) => {
      expect((await listTypes(...visits(one, other))).sort()).toEqual(expected);
    });

    it('is not taken for two people on one device either, if they have other ids on the platforms', async () => {
      const onCanvas = { ...read, user: '77', origin: CANVAS };
      expect(await listTypes({ ...read, origin: MOODLE }, { ...onCanvas, ago: 50 })).toEqual([]);
      expect(await listTypes({ ...onCanvas, user: '78', ago: 40 })).toEqual(['SharedDevice low 78']);
    });
  });
}
