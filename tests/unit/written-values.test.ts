import { describe, expect, it } from 'vitest';
import { findUnit, showCondition, showMinutes } from '../../app/dashboard/[integrationId]/alerts/rule-words';
import { showFilters, showLength } from '../../app/dashboard/[integrationId]/reports/report-words';
import { readQueueChoice } from '../../app/dashboard/[integrationId]/review/queue-choice';
import {
  showBothScores,
  showMoments,
  showName,
} from '../../app/dashboard/[integrationId]/sessions/[sessionId]/evidence/evidence-words';
import {
  composeQueueOrigin,
  readListOrigin,
  readOrigin,
  withOrigin,
} from '../../app/dashboard/[integrationId]/sessions/list-origin';
import { readSettingsTab } from '../../app/dashboard/[integrationId]/settings/tabs';
import { readWebhookTab } from '../../app/dashboard/[integrationId]/webhooks/[id]/delivery-filters';
import { listFields, toDraft, toThreshold } from '../../app/dashboard/[integrationId]/webhooks/threshold-draft';
import { shortenId } from '../../app/dashboard/components/copying';
import { showDuration } from '../../app/dashboard/components/duration';
import { showProgress, showTotal } from '../../app/dashboard/components/list-total';
import { findInitials } from '../../app/dashboard/staff';
import type { AlertRule } from '../../contract/alert-rules';
import type { ReportContent } from '../../contract/reports';
import { type Threshold, thresholdSchema } from '../../contract/webhooks';

// How the dashboard writes values, and reads them from addresses and fields.

describe('a part of a name or an id', () => {
  // Half a character is another one in the browser than from the server.
  it('has whole characters', () => {
    expect(['ada lovelace', 'A𠮷', '𠮷野家', 'Z'].map(findInitials)).toEqual(['ad', 'A𠮷', '𠮷野', 'Z']);
    expect(['short', '1234567𠮷89012345𠮷678', '𠮷'.repeat(16)].map(shortenId)).toEqual([
      ...['short', '1234567𠮷…𠮷678', '𠮷'.repeat(16)],
    ]);
  });
});

describe('a duration', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [59_499, '59 s'],
    [59_500, '1 min'],
    [61_000, '1 min 1 s'],
    [250_000, '4 min 10 s'],
    [3_599_499, '59 min 59 s'],
    [3_599_500, '1 h'],
    [3_660_000, '1 h 1 min'],
    [7_169_000, '1 h 59 min'],
    [7_170_000, '2 h'],
    [90_000_000, '25 h'],
  ])('of %i ms is %s', (ms, text) => expect(showDuration(ms)).toBe(text));

  it('of an alert rule is in the largest unit that it is a whole number of', () => {
    expect([1, 59, 60, 90, 120, 1_440, 2_880, 1_500].map(showMinutes)).toEqual([
      ...['1 minute', '59 minutes', '1 hour', '90 minutes', '2 hours', '1 day', '2 days', '25 hours'],
    ]);
    expect(findUnit(10_080)).toBe('days');
  });

  it('of a report is in days, or in hours below one', () => {
    const length = (hours: number) =>
      showLength({
        startAt: '2026-01-01T00:00:00Z',
        endAt: new Date(Date.UTC(2026, 0, 1, hours)).toISOString(),
      } as ReportContent);
    expect([1, 23, 24, 47, 720].map(length)).toEqual(['1 hour', '23 hours', '1 day', '2 days', '30 days']);
  });
});

describe('the length of a list', () => {
  const users = ['user', 'users'] as const;
  it.each([
    [{ shown: 1, hasMore: false }, '1 user', '1 user'],
    [{ shown: 0, hasMore: false, total: { count: 9, isExact: true } }, '0 users', '0 users'],
    [{ shown: 50, hasMore: true }, 'more than 50 users', '50 of more than 50 users'],
    [{ shown: 50, hasMore: true, total: { count: 1_204, isExact: true } }, '1,204 users', '50 of 1,204 users'],
    [
      { shown: 50, hasMore: true, total: { count: 1_000, isExact: false } },
      'more than 1,000 users',
      '50 of more than 1,000 users',
    ],
    // A count that is older than the list.
    [
      { shown: 50, hasMore: true, total: { count: 50, isExact: true } },
      'more than 50 users',
      '50 of more than 50 users',
    ],
  ])('%j is %s', (progress, total, all) => {
    expect([showTotal(progress, users), showProgress(progress, users)]).toEqual([total, all]);
  });
});

describe('the condition of an alert rule', () => {
  const rule = {
    ...{ metric: 'botShare', comparison: 'gt', value: 50, windowMinutes: 60, anomalyType: null, minSeverity: null },
    ...{ scope: { kind: 'integration', value: null }, scopeName: null },
  } as AlertRule;
  it.each<[Partial<AlertRule>, string]>([
    [{}, 'Share of bot sessions above 50 % within 1 hour'],
    [{ scope: { kind: 'user', value: 'u1' } }, 'Share of bot sessions above 50 % within 1 hour, user u1'],
    [{ scope: { kind: 'user', value: 'u1' }, scopeName: 'Ada' }, 'Share of bot sessions above 50 % within 1 hour, Ada'],
    [
      { metric: 'anomalies', comparison: 'gte', value: 5, anomalyType: 'SharedDevice', minSeverity: 'medium' },
      'Anomalies (SharedDevice, medium or worse) at least 5 within 1 hour',
    ],
  ])('with %j', (fields, text) => expect(showCondition({ ...rule, ...fields })).toBe(text));
});

describe('a threshold in the form', () => {
  it.each<[Threshold, object]>([
    [
      { field: 'botScore', operator: 'gte', value: 0.9 },
      { kind: 'number', text: '0.9' },
    ],
    [
      { field: 'botScore', operator: 'lt', value: '0.90' },
      { kind: 'number', text: '0.90' },
    ],
    [
      { field: 'userId', operator: 'eq', value: '' },
      { kind: 'text', text: '' },
    ],
    [
      { field: 'userId', operator: 'neq', value: '5' },
      { kind: 'text', text: '5' },
    ],
    [
      { field: 'metadata.seen', operator: 'eq', value: false },
      { kind: 'boolean', text: 'false' },
    ],
    [
      { field: 'severity', operator: 'in', value: ['low', 'high'] },
      { kind: 'text', text: 'low\nhigh' },
    ],
    [
      { field: 'wordCount', operator: 'in', value: [1, 2.5] },
      { kind: 'number', text: '1\n2.5' },
    ],
  ])('%j is %j, and means the same again', (threshold, draft) => {
    expect(toDraft(threshold)).toMatchObject(draft);
    const { value } = toThreshold(toDraft(threshold));
    expect(value).toEqual(threshold.operator === 'lt' ? 0.9 : threshold.value);
  });

  it('is refused where it has no value, or no number', () => {
    const takes = (fields: object) =>
      thresholdSchema.safeParse(toThreshold({ field: 'f', operator: 'gte', kind: 'number', text: '', ...fields }))
        .success;
    expect([takes({}), takes({ text: ' ' }), takes({ text: 'x' }), takes({ text: ' 5 ' })]).toEqual([
      false,
      false,
      false,
      true,
    ]);
    const list = { operator: 'in', kind: 'text' };
    expect([takes({ ...list, text: ' \n' }), takes({ ...list, text: ' a \n\n b' })]).toEqual([false, true]);
    expect(toThreshold({ field: 'f', operator: 'in', kind: 'text', text: ' a \n\n b' }).value).toEqual(['a', 'b']);
  });

  it('may name each field of a payload that holds one value', () => {
    const payloads = [
      { a: null, list: [1], nested: { flag: true, deep: { n: 1 } } },
      { a: 5, nested: { flag: null } },
    ];
    expect([...listFields(payloads)]).toEqual([
      ['a', 'number'],
      ['nested.flag', 'boolean'],
      ['nested.deep.n', 'number'],
    ]);
  });
});

describe('an address', () => {
  const search = (query: string) => new URLSearchParams(query);

  it('opens the first tab if it names none, or a property of every object', () => {
    for (const query of ['', 'tab=', 'tab=constructor']) {
      expect([readSettingsTab(search(query)), readWebhookTab(search(query))]).toEqual(['api-keys', 'deliveries']);
    }
    expect([readSettingsTab(search('tab=audit')), readWebhookTab(search('tab=setup'))]).toEqual(['audit', 'setup']);
    expect(readQueueChoice(search('queue=toString&window=valueOf'))).toEqual({ queue: 'score', window: '24h' });
    expect(readQueueChoice(search('queue=sample&window=7d'))).toEqual({ queue: 'sample', window: '7d' });
  });

  it('of a session knows the list that its reader came from', () => {
    const origin = readListOrigin(search('riskLevel=bot&userId=a%26b&selected=s1'));
    const href = withOrigin('/s', origin);
    const read = readOrigin(search(href.slice(3)));
    expect(read).toMatchObject({ origin, page: 'sessions' });
    expect(read?.page === 'sessions' && String(read.search)).toBe('riskLevel=bot&userId=a%26b');
    expect(readOrigin(search(withOrigin('', readListOrigin(search(''))).slice(1)))?.origin).toBe('sessions');
    const openedAt = '2026-01-31T09:30:00.000+01:00';
    expect(readOrigin(search(withOrigin('', composeQueueOrigin(openedAt)).slice(1)))).toMatchObject({
      page: 'review',
      openedAt,
    });
    for (const none of ['', 'from=', 'from=review', 'from=https://evil.example/sessions', 'from=/sessions'])
      expect([none, readOrigin(search(none))]).toEqual([none, null]);
  });
});

describe('evidence', () => {
  it('has each day once, and its scores on both scales', () => {
    expect(showMoments(['2026-01-31T09:30:12.000Z', '2026-01-31T09:30:14.250Z', '2026-02-01T00:00:00.000Z'])).toBe(
      '2026-01-31 at 09:30:12, 09:30:14.250 UTC; 2026-02-01 at 00:00:00 UTC',
    );
    expect([showMoments([]), showBothScores(0.694), showName('notMeasured')]).toEqual([
      ...['', '69 of 100 (0.694 in the API)', 'Not measured'],
    ]);
  });
});

it('a report says of whom and of what it is', () => {
  const all = { courseId: null, courseName: null, userId: null, userName: null, riskLevel: null } as ReportContent;
  expect(showFilters(all)).toBe('all sessions');
  expect(showFilters({ ...all, courseId: 'c1' })).toBe('course c1');
  expect(showFilters({ ...all, courseId: 'c1', courseName: 'Algebra', riskLevel: 'bot' })).toBe(
    'Algebra, bot sessions only',
  );
  expect(showFilters({ ...all, userId: 'u1' })).toContain('u1');
});
