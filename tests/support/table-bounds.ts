/**
 * What keeps each table of the database from growing without end: how long its rows stay, or what there is one row of. Written
 * into docs/operating.md by `npx vitest run tests/unit/reference-pages.test.ts -u`.
 */
export const TABLE_BOUNDS: Record<string, string> = {
  sessions: 'Removed after the retention of the plan.',
  session_events: 'Removed with their session.',
  session_flags: 'Removed with their session.',
  session_scores: 'Removed with their session.',
  session_correlations: 'Removed with their session.',
  session_verdicts: 'Removed with their session.',
  review_draws: 'One row for each integration and day. Removed after the retention of the plan.',
  review_sample: 'At most 200 for each integration and day. Removed with their draw.',
  saved_views: 'At most 100 for each integration.',
  session_deltas: 'Removed when they are folded, every minute.',
  session_rollups: 'One row for each hour and day of the last 100 days, and one of all time.',
  dimension_rollups:
    'One row for each origin, device type and browser, and each hour, day and week of the last 100 days.',
  seen_hours: 'One row for each hour in which a user or a device had sessions. Stays.',
  seen_steps: 'One row for each hour and day of the last 100 days.',
  entity_rollups: 'At most 103 rows for each user and course. Stays.',
  entity_pairs: 'One row for each device of a user and each user of a course. Stays.',
  entity_others: 'One row for each user and course. Stays.',
  entity_totals: 'One row for each user and course. Stays.',
  pruned_ends: 'One row for each user and course. Stays.',
  minute_counts:
    'One row for each minute of the last 38 days in which sessions began, of the integration and of each course, user and origin.',
  incident_counts:
    'One row for each minute of the last 38 days with anomalies of a type and severity or failed deliveries. Entries are folded every minute.',
  row_counts: 'Folded into three rows for each integration, every minute.',
  users: 'One row for each user of an LMS. Stays.',
  courses: 'One row for each course. Stays.',
  search_words: 'At most 20 words of the name and email of each user, and of the name and code of each course. Stays.',
  device_confirmations: 'One row for each pair of user and device that is confirmed. Stays until staff revoke it.',
  anomalies: 'One row for each anomaly that the pipeline reports. Stays, because the counts of users include them.',
  writing_scores: 'Removed after the retention of the plan.',
  alerts: 'Removed after the retention of the plan.',
  alert_rules: 'At most 100 for each integration. Deleted ones are removed after an hour, and not before their alerts.',
  reports: 'Removed after the retention of the plan, and not before they expire.',
  report_jobs:
    'Removed 30 days after they were made, or asked for if they failed. At most 20 of an integration wait or run.',
  report_chunks: 'Removed with their report.',
  report_schedules: 'At most 20 for each integration.',
  fact_outbox: 'Removed when the rules on findings have judged the session, within seconds; given up after 10 tries.',
  finding_rules: 'One row for each rule that an integration has switched.',
  domain_events: 'Removed after the retention of the plan, and not before their deliveries.',
  webhook_subscriptions:
    'At most 100 for each integration. Deleted ones are removed after an hour, and not before their deliveries.',
  webhook_deliveries:
    'Removed 30 days after their end. A pending one ends after 10.6 hours of attempts, or after a day if its subscription is disabled.',
  webhook_attempts: 'Removed with their delivery.',
  webhook_answers: 'Removed after seven days. At most 2 KiB of a body each.',
  lease_owners: 'One row for each running process. The process that takes over from a dead one removes its row.',
  pruned_outcomes: 'One row for each integration and day. Stays.',
  usage_daily: 'One row for each integration, day, method and documented route. Stays.',
  rate_windows: 'Removed after 5 minutes.',
  sign_in_windows:
    'Removed after an hour. An attempt beyond a limit writes none, so a client address makes at most 51 in 15 minutes.',
  audit_entries:
    'What staff and operators did stays. Of what customers did with API keys, the newest 10,000 of each action and integration.',
  sites: 'Made by operators and admins. Revoked ones stay, so that the audit log can name them.',
  collected_sessions: 'Removed with their traces. At most 16 digests for each.',
  session_batches:
    'At most 2,000 for each session, and 8 hours. Joined into one trace when the session closes, removed after TRACE_DAYS.',
  session_traces: 'Removed after TRACE_DAYS, and not later than their session.',
  integrations: 'Made by operators and admins.',
  api_keys: 'Made by operators and admins. Revoked ones stay, so that the audit log can name them.',
  staff: 'Made by operators and admins.',
  staff_sessions: 'Removed at the first sign-in after they expired, 12 hours after their last use.',
  staff_invitations: 'Removed at the first invitation after they expired, three days after they were made.',
  meta: 'One row.',
  __drizzle_migrations: 'One row for each migration.',
  'engine.process': 'One row for each running process. Rows of dead ones are removed after an hour.',
  'engine.event': 'Removed after 24 hours.',
  'engine.run': 'Removed when the run completes; a failed one after a week.',
  'engine.step': 'Removed with their run.',
};
