import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createAlertRuleInput } from '../../contract/alert-rules';
import { reviewSampleSchema } from '../../contract/error-rates';
import { evidenceInput } from '../../contract/evidence';
import { cutText, instantText, isPathId, isWebUrl, rangeBound, text } from '../../contract/fields';
import { keyDaysInput, originInput, originsInput } from '../../contract/integrations';
import { acceptInvitationInput, createInvitationInput } from '../../contract/invitations';
import { createScheduleInput, requestReportInput } from '../../contract/reports';
import { listCasesInput, setVerdictsInput, undoVerdictsInput } from '../../contract/review';
import { createViewInput } from '../../contract/saved-views';
import { findInput } from '../../contract/search';
import { geoLocationInput, notesInput } from '../../contract/sessions';
import { checkSiteInput, createSiteInput } from '../../contract/sites';
import { createStaffInput, signInInput } from '../../contract/staff';
import { VERDICT_REASONS, verdictReasonsInput } from '../../contract/verdicts';
import { thresholdSchema } from '../../contract/webhooks';

// The bounds of what staff and pipelines send, on both sides of each. Those of the API are held by its document too.

const x = (length: number) => 'x'.repeat(length);
const takes = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;
/** Fields of an object: the values that it takes, and those that it refuses. */
type Bounds = [field: string, taken: unknown[], refused: unknown[]];
const names = (field: string, max: number): Bounds => [
  field,
  ['x', x(max), ` ${x(max)} `],
  ['', ' ', x(max + 1), null],
];
const texts = (field: string, min: number, max: number): Bounds => {
  const short = min > 0 ? [x(min - 1)] : [];
  const refused = [...short, x(max + 1), '😀'.repeat(max + 1), `${x(min)}\0`, `${x(min)}\ud83d`, 5];
  return [field, [x(min), x(max), '😀'.repeat(max)], refused];
};
const numbers = (field: string, min: number, max: number): Bounds => {
  return [field, [min, max], [min - 1, max + 1, min + 0.5, String(min)]];
};
const email = (length: number) => `${x(length - 90)}@${x(60)}.${x(24)}.edu`;

const inputs: [name: string, schema: z.ZodType, valid: object, bounds: Bounds[]][] = [
  [
    'an alert rule',
    createAlertRuleInput,
    {
      ...{
        name: 'n',
        metric: 'botShare',
        scope: { kind: 'integration' },
        windowMinutes: 10,
        comparison: 'gte',
        value: 5,
      },
      ...{ severity: 'high', message: 'm' },
    },
    [
      ['windowMinutes', [5, 10_080], [4, 10_081]],
      ['coolDownMinutes', [5, 10_080, null], [4, 10_081]],
      numbers('minSessions', 1, 1_000_000),
      ['value', [0.5, 100], [0, 101]],
    ],
  ],
  [
    'an alert rule on anomalies',
    createAlertRuleInput,
    {
      ...{
        name: 'n',
        metric: 'anomalies',
        scope: { kind: 'integration' },
        windowMinutes: 10,
        comparison: 'gte',
        value: 5,
      },
      ...{ severity: 'high', message: 'm' },
    },
    [texts('anomalyType', 1, 128)],
  ],
  [
    'a saved view',
    createViewInput,
    { page: 'users', name: 'n', query: '' },
    [names('name', 60), texts('query', 0, 4_000)],
  ],
  ['a search', findInput, {}, [texts('query', 1, 200)]],
  [
    'a schedule of reports',
    createScheduleInput,
    {
      ...{ template: 'course-integrity', courseId: 'c', days: 7, format: 'csv', hour: 5, timeZone: 'Europe/Paris' },
      ...{ cadence: 'daily', weekday: 1, dayOfMonth: 1 },
    },
    [
      numbers('days', 1, 730),
      numbers('hour', 0, 23),
      numbers('weekday', 1, 7),
      numbers('dayOfMonth', 1, 28),
      texts('name', 1, 200),
      ['courseId', [x(256)], ['', x(257), undefined]],
      ['timeZone', ['UTC', 'America/Argentina/ComodRivadavia'], ['', '+01:00', 'Nowhere/At_All']],
    ],
  ],
  [
    'a report',
    requestReportInput,
    { template: 'user-evidence', userId: 'u', days: 1, format: 'pdf' },
    [numbers('days', 1, 730)],
  ],
  ['the size of the sample', reviewSampleSchema, {}, [numbers('sampleSize', 0, 200)]],
  ['a site', createSiteInput, {}, [names('name', 100)]],
  ['the check of a site', checkSiteInput, { siteKey: 'k', origin: 'https://a.edu' }, [texts('siteKey', 1, 256)]],
  [
    'an account',
    createStaffInput,
    { email: 'ada@example.edu', password: x(12), name: 'Ada' },
    [texts('password', 12, 256), names('name', 100), ['email', [email(254), 'a@b.io'], [email(255), 'a@b', 'ada']]],
  ],
  ['an invitation', createInvitationInput, { email: 'ada@example.edu' }, [names('name', 100)]],
  [
    'the answer to it',
    acceptInvitationInput,
    { token: 't', password: x(12) },
    [texts('token', 1, 256), names('name', 100)],
  ],
  ['a sign-in', signInInput, { email: 'e', password: 'p' }, [texts('email', 1, 254), texts('password', 1, 256)]],
  [
    'a place',
    geoLocationInput,
    { latitude: 0, longitude: 0, accuracyKm: 0 },
    [
      ['latitude', [-90, 90], [-90.1, 90.1]],
      ['longitude', [-180, 180], [-180.1, 180.1]],
      ['accuracyKm', [0, 20_040], [-1, 20_041]],
    ],
  ],
];

describe.each(inputs)('%s', (_, schema, valid, bounds) => {
  it.each(bounds)('has a %s within its bounds', (field, taken, refused) => {
    for (const value of taken) expect([value, takes(schema, { ...valid, [field]: value })]).toEqual([value, true]);
    for (const value of refused) expect([value, takes(schema, { ...valid, [field]: value })]).toEqual([value, false]);
  });
});

const list = <One>(length: number, one: One) => Array.from({ length }, () => one);
const session = { sessionId: 's' };
const undone = { sessionId: 's', labeledAt: '2026-01-31T09:30:00Z', previousLabeledAt: null };
const finding = {
  ...{ flag: 'f', group: 'pointer', state: 'found', measured: null, expected: null, weight: 1, moments: [] },
};

describe('a list', () => {
  it.each<[string, z.ZodType, (length: number) => unknown, min: number, max: number]>([
    ['sessions that are read', listCasesInput, (length) => ({ sessionIds: list(length, 's') }), 1, 10],
    [
      'sessions that are labelled',
      setVerdictsInput,
      (length) => ({ verdict: 'bot', sessions: list(length, session) }),
      ...([1, 200] as const),
    ],
    ['verdicts that are undone', undoVerdictsInput, (length) => ({ verdicts: list(length, undone) }), 1, 200],
    ['reasons', verdictReasonsInput, (length) => list(length, 'Unclear'), 0, VERDICT_REASONS.length],
    ['origins', originsInput, (length) => list(length, 'https://a.edu'), 0, 100],
    [
      'values of a threshold',
      thresholdSchema,
      (length) => ({ field: 'f', operator: 'in', value: list(length, 1) }),
      ...([1, 100] as const),
    ],
  ])('of %s has as many as it may', (_, schema, make, min, max) => {
    expect([min, max].map((length) => [length, takes(schema, make(length))])).toEqual([
      [min, true],
      [max, true],
    ]);
    if (min > 0) expect(takes(schema, make(min - 1))).toBe(false);
    expect(takes(schema, make(max + 1))).toBe(false);
  });
});

describe('a schedule of reports', () => {
  const schedule = { template: 'weekly-overview', format: 'csv', hour: 5, timeZone: 'UTC' };
  it.each([
    ['daily', {}, true],
    ['weekly', { weekday: 1 }, true],
    ['weekly', { dayOfMonth: 1 }, false],
    ['monthly', { dayOfMonth: 1 }, true],
    ['monthly', { weekday: 1 }, false],
  ])('that is %s with %j: %s', (cadence, day, isTaken) => {
    expect(takes(createScheduleInput, { ...schedule, ...day, cadence })).toBe(isTaken);
  });

  it('is no report that ends at a time, if it is a weekly overview', () => {
    const until = '2026-01-31T09:30:00Z';
    expect(takes(requestReportInput, { template: 'weekly-overview', format: 'csv' })).toBe(true);
    expect(takes(requestReportInput, { template: 'weekly-overview', format: 'csv', until })).toBe(false);
    expect(takes(requestReportInput, { template: 'sessions', days: 1, format: 'csv', until })).toBe(true);
  });
});

describe('a single value', () => {
  it.each<[string, z.ZodType, taken: unknown[], refused: unknown[]]>([
    ['days of a key', keyDaysInput, [1, 3_650], [0, 3_651, 1.5]],
    ['notes', notesInput, ['', x(1_000), null, undefined], [x(1_001)]],
    [
      'an origin',
      originInput,
      [`https://${x(292)}`, 'http://a.edu/path'],
      [`https://${x(293)}`, 'https://*.a.edu', 'ftp://a'],
    ],
    [
      'a time',
      instantText(),
      ['0001-01-01T00:00:00Z', '9998-12-31T23:59:59.999Z'],
      ['9999-01-01T00:00:00Z', '0000-12-31T23:59:59Z'],
    ],
    [
      'an offset',
      instantText(),
      ['2026-01-31T09:30:00+02:00'],
      ['2026-01-31T09:30:00', '2026-02-30T09:30:00Z', '2026-01-31'],
    ],
  ])('of %s', (_, schema, taken, refused) => {
    for (const value of taken) expect([value, takes(schema, value)]).toEqual([value, true]);
    for (const value of refused) expect([value, takes(schema, value)]).toEqual([value, false]);
  });

  it('of evidence', () => {
    const at = '2026-01-31T09:30:00Z';
    const found = (fields: object, length = 1) => takes(evidenceInput, list(length, { ...finding, ...fields }));
    expect([found({}, 100), found({}, 101)]).toEqual([true, false]);
    expect([found({ moments: list(20, at) }), found({ moments: list(21, at) })]).toEqual([true, false]);
    for (const field of ['flag', 'measured', 'expected'])
      expect([found({ [field]: x(256) }), found({ [field]: x(257) })]).toEqual([true, false]);
    expect([found({ flag: '' }), found({ measured: '', expected: '' })]).toEqual([false, true]);
  });
});

describe('text', () => {
  it('is counted and cut by its characters, not by halves of them', () => {
    expect(['', 'ab', '😀😀', 'abc', '😀😀😀'].map((value) => takes(text(1, 2), value))).toEqual([
      ...[false, true, true, false, false],
    ]);
    expect([cutText('ab', 2), cutText('abc', 2), cutText('😀😀😀', 2), cutText('a😀😀', 2)]).toEqual([
      ...['ab', 'ab', '😀😀', 'a😀'],
    ]);
  });

  it('is an id in a path if it does not vanish from it', () => {
    expect(['.', '..', 'a\n', 'a\u0085', '...', 'a.b', 'é'].map(isPathId)).toEqual([
      ...[false, false, false, false, true, true, true],
    ]);
  });

  it('is an address that may be opened if it leads to the web', () => {
    expect(['https://a.edu/x', 'http://a.edu', 'javascript:alert(1)', 'file:///etc', 'a.edu'].map(isWebUrl)).toEqual([
      ...[true, true, false, false, false],
    ]);
    expect([292, 293].map((length) => isWebUrl(`https://${x(length)}`))).toEqual([true, false]);
  });
});

describe('a bound of a range', () => {
  it.each([
    ['start', '2026-01-31', '2026-01-31T00:00:00.000Z', true],
    ['end', '2026-01-31', '2026-02-01T00:00:00.000Z', true],
    ['end', '2026-01-31T09:30:00+02:00', '2026-01-31T07:30:00.000Z', false],
    // Times of rows are whole milliseconds.
    ['start', '2026-01-31T09:30:00.1234Z', '2026-01-31T09:30:00.124Z', false],
    ['end', '2026-01-31T09:30:00.1230Z', '2026-01-31T09:30:00.123Z', false],
  ] as const)('%s %s is %s', (edge, given, at, isWholeDay) => {
    expect(rangeBound(edge, '').parse(given)).toEqual({ at, isWholeDay });
  });
});
