import { expect, it } from 'vitest';
import { readWindow } from '../../app/dashboard/[integrationId]/overview/analytics-window';

it.each([
  ['', '7d', 'day'],
  ['period=24h', '24h', 'hour'],
  ['period=30d&groupBy=week', '30d', 'week'],
  ['period=90d&groupBy=hour', '90d', 'hour'],
  // What the API refuses: an error would stand where the choice of another window is.
  ['period=1y&groupBy=month', '7d', 'day'],
  ['period=24h&groupBy=week', '24h', 'hour'],
])('the window of the overview with ?%s', (search, period, groupBy) => {
  expect(readWindow(new URLSearchParams(search))).toEqual({ period, groupBy });
});
