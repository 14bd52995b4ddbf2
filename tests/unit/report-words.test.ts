import { expect, it } from 'vitest';
import { showMaker } from '../../app/dashboard/[integrationId]/reports/report-words';

it('a report without a request is said to be of the customer’s pipeline only while a request would be known', () => {
  expect(showMaker({ status: 'Ready' })).toBe('the customer’s pipeline');
  expect(showMaker({ status: 'Expired' })).toBeNull();
});
