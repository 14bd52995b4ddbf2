import { expect, it } from 'vitest';
import { describeScheduled, showMaker } from '../../app/dashboard/[integrationId]/reports/report-words';

it('a report without a request is said to be of the customer’s pipeline only while a request would be known', () => {
  expect(showMaker({ status: 'Ready' })).toBe('the customer’s pipeline');
  expect(showMaker({ status: 'Expired' })).toBeNull();
});

it('a schedule says what its reports are about', () => {
  const all = { courseId: null, courseName: null, userId: null, userName: null, riskLevel: null };
  expect(describeScheduled({ ...all, days: 1 })).toBe('1 day, all sessions');
  expect(describeScheduled({ ...all, days: 31, courseId: 'c-1', courseName: 'Algebra', riskLevel: 'bot' })).toBe(
    '31 days, Algebra, bot sessions only',
  );
  expect(describeScheduled({ ...all, days: 7, userId: 'ada' })).toBe('7 days, user ada');
  expect(describeScheduled({} as Parameters<typeof describeScheduled>[0])).toBe('');
});
