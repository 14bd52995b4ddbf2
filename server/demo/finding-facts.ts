import type { Fact } from '../pipeline/facts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

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

/** Reports: how many weeks ago they were made, the file, and for how many days it is available. */
const REPORTS: [weeksAgo: number, name: string, templateId: string, format: 'csv' | 'pdf' | 'json', records: number][] =
  [
    [0, 'Weekly bots', 'weekly-bots', 'csv', 31],
    [1, 'Weekly bots', 'weekly-bots', 'csv', 24],
    [1, 'Quiz integrity, Course 101', 'course-integrity', 'pdf', 58],
    [2, 'Weekly bots', 'weekly-bots', 'csv', 19],
    [3, 'Weekly bots', 'weekly-bots', 'csv', 12],
    [3, 'All sessions of the month', 'session-export', 'json', 212],
  ];
const KEPT_DAYS = 14;
const BYTES_PER_RECORD = { csv: 118, pdf: 3_460, json: 742 };

/** Makes the alerts and reports of the weeks before `now` (milliseconds). */
export function makeFindingFacts(now: number): Fact[] {
  const at = (ms: number) => new Date(ms).toISOString();
  const alerts = ALERTS.map(([hoursAgo, severity, message], n): Fact => {
    return {
      kind: 'alertFired',
      alertId: `alert-demo-${n}`,
      severity,
      message,
      triggeredAt: at(now - hoursAgo * HOUR_MS),
    };
  });
  const reports = REPORTS.map(([weeksAgo, reportName, templateId, format, recordCount], n): Fact => {
    const completedMs = now - weeksAgo * 7 * DAY_MS - (n + 2) * HOUR_MS;
    const reportId = `report-demo-${n}`;
    return {
      kind: 'reportReady',
      ...{ reportId, reportName, templateId, format, recordCount },
      fileSize: recordCount * BYTES_PER_RECORD[format],
      completedAt: at(completedMs),
      expiresAt: at(completedMs + KEPT_DAYS * DAY_MS),
      downloadUrl: `/reports/${reportId}/download`,
    };
  });
  return [...alerts, ...reports];
}
