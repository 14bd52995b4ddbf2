import type { Fact } from '../pipeline/facts';

const HOUR_MS = 3_600_000;

/** Alerts of the demo's rules, with the hours since they fired. */
const ALERTS: [hoursAgo: number, severity: string, message: string][] = [
  [3, 'high', '9 bot sessions within 10 minutes on Course 310'],
  [29, 'medium', 'Share of bot sessions above 25% within an hour'],
  [76, 'low', 'First session from a country that was not seen before'],
  [150, 'high', 'Automation (webdriver) in a quiz of Course 101'],
  [266, 'medium', 'One device with 4 users within a day'],
  [431, 'high', '25 bot sessions within 10 minutes'],
  [604, 'low', 'No session within 6 hours'],
];

/** Makes the alerts of the weeks before `now` (milliseconds). */
export const makeFindingFacts = (now: number): Fact[] =>
  ALERTS.map(([hoursAgo, severity, message], n) => ({
    kind: 'alertFired',
    alertId: `alert-demo-${n}`,
    severity,
    message,
    triggeredAt: new Date(now - hoursAgo * HOUR_MS).toISOString(),
  }));
