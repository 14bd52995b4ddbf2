// What the erasure of a user does to every column that holds text, JSON or bytes. A column that is not listed fails
// tests/unit/erasure-columns.test.ts, so that none is forgotten. tests/rest/user-erasure.test.ts fills the columns and checks that
// the erasure follows the list. docs/privacy.md shows it.

/** What becomes of a column, as the documents say it. */
export const FATES = {
  pseudonym: 'the user’s id becomes a random one',
  renamed: 'an id that a rule computed, also from the user’s id, becomes a random one; others stay',
  hashed: 'the user’s id becomes a keyed hash; in the details, mentions are replaced',
  removed: 'removed',
  emptied: 'emptied in rows about the user or their sessions; elsewhere, mentions are replaced',
  replaced: 'mentions of the user are replaced',
  sealed: 'the payload of events about the user becomes `{"erased":true}`',
  expiring: 'encrypted, and gone within 24 hours',
  working: 'names the user while the erasure runs, emptied at its end',
  measured: 'stays: a measure or a word of a fixed list, which counts need',
  ours: 'stays: an id, a word or a hash that the product made, or an id that the customer gave to something else',
  settings: 'stays: a setting of the customer or of the operator, or what is known of staff',
} as const;
export type Fate = keyof typeof FATES;

const ours = (...names: string[]) => all('ours', names);
const settings = (...names: string[]) => all('settings', names);
const measured = (...names: string[]) => all('measured', names);
const all = (fate: Fate, names: string[]): Record<string, Fate> =>
  Object.fromEntries(names.map((name) => [name, fate]));

/** The fate of each such column: table → column → fate. */
export const COLUMN_FATES = new Map(
  Object.entries<Record<string, Fate>>({
    // Sessions and what belongs to them.
    sessions: {
      ...ours('integration_id', 'id', 'course_id', 'fingerprint'),
      ...measured('status', 'origin', 'user_agent', 'user_agent_summary', 'device_type', 'browser', 'country'),
      ...measured('detection_flags', 'label_confidence'),
      failure_reason: 'replaced',
      page_url: 'emptied',
      location: 'emptied',
      label_notes: 'emptied',
      labeled_by: 'settings',
      user_id: 'pseudonym',
    },
    session_verdicts: {
      ...ours('integration_id', 'session_id'),
      ...measured('confidence', 'reasons', 'rule_set_version'),
      notes: 'emptied',
      ...settings('actor_kind', 'actor_id', 'actor_name'),
    },
    session_flags: ours('integration_id', 'flag', 'session_id'),
    session_events: {
      ...ours('integration_id', 'session_id'),
      type: 'measured',
      url: 'emptied',
      metadata: 'emptied',
    },
    session_scores: {
      ...ours('integration_id', 'session_id'),
      ...measured('detection_flags', 'rule_set_version', 'segments'),
      evidence: 'replaced',
    },
    session_correlations: {
      ...ours('integration_id', 'session_id', 'context_id'),
      user_id: 'pseudonym',
    },
    courses: { ...ours('integration_id', 'id'), name: 'replaced', code: 'replaced', url: 'replaced' },
    // Users.
    users: { integration_id: 'ours', id: 'pseudonym', ...all('removed', ['name', 'email', 'url']) },
    search_words: { ...ours('integration_id', 'kind'), word: 'removed', id: 'removed' },
    device_confirmations: {
      ...ours('integration_id', 'fingerprint'),
      user_id: 'pseudonym',
      confirmed_by: 'settings',
      notes: 'emptied',
    },
    // Findings.
    anomalies: {
      ...ours('integration_id', 'session_id', 'fingerprint'),
      ...measured('type', 'severity'),
      id: 'renamed',
      user_id: 'pseudonym',
      metadata: 'emptied',
      ...settings('acknowledged_by', 'resolved_by'),
    },
    writing_scores: {
      ...ours('integration_id', 'session_id', 'browsing_session_id'),
      user_id: 'pseudonym',
      document_id: 'replaced',
      evidence: 'replaced',
    },
    alert_rules: {
      ...ours('integration_id', 'id'),
      ...settings(
        'metric',
        'anomaly_type',
        'min_severity',
        'scope',
        'comparison',
        'severity',
        'created_by',
        'updated_by',
      ),
      name: 'replaced',
      scope_value: 'pseudonym',
      message: 'replaced',
      unsent: 'replaced',
    },
    alerts: {
      ...ours('integration_id', 'id', 'rule_id'),
      severity: 'measured',
      message: 'replaced',
      url: 'replaced',
      ...settings('acknowledged_by', 'resolved_by'),
    },
    fact_outbox: ours('integration_id', 'id', 'session_id', 'causes'),
    finding_rules: settings('integration_id', 'rule'),
    // Reports and saved lists. Rows that name the user go, with their files.
    reports: {
      ...ours('integration_id', 'id', 'template_id', 'format'),
      name: 'removed',
      download_url: 'removed',
    },
    report_jobs: {
      ...ours('integration_id', 'id', 'template', 'format', 'state', 'run_id', 'store', 'parts', 'failure'),
      name: 'removed',
      parameters: 'removed',
      requested_by: 'settings',
    },
    report_chunks: { ...ours('integration_id', 'report_id', 'part'), content: 'removed' },
    report_schedules: {
      ...ours('integration_id', 'id', 'template', 'format'),
      name: 'removed',
      parameters: 'removed',
      ...settings('cadence', 'time_zone', 'created_by'),
    },
    saved_views: { ...ours('integration_id', 'id', 'page'), name: 'removed', query: 'removed', created_by: 'settings' },
    review_draws: ours('integration_id'),
    review_sample: ours('integration_id', 'session_id'),
    // What the pixel sent.
    sites: settings('id', 'integration_id', 'site_key', 'name'),
    collected_sessions: {
      ...ours('integration_id', 'session_id', 'site_id'),
      ...measured('user_agent', 'country'),
      ...all('emptied', ['address_prefix', 'address_hash', 'location', 'progress']),
    },
    session_batches: { body: 'removed' },
    session_traces: { body: 'removed' },
    // Counts.
    session_deltas: {
      ...ours('integration_id', 'course_id', 'fingerprint'),
      ...measured('origin', 'device_type', 'browser'),
      user_id: 'pseudonym',
    },
    session_rollups: ours('integration_id', 'grain'),
    dimension_rollups: ours('integration_id', 'grain', 'dimension', 'value'),
    seen_hours: { ...ours('integration_id', 'kind'), value: 'pseudonym' },
    seen_steps: ours('integration_id', 'kind', 'grain'),
    entity_rollups: { ...ours('integration_id', 'kind'), value: 'pseudonym' },
    entity_totals: { ...ours('integration_id', 'kind'), value: 'pseudonym' },
    entity_pairs: { ...ours('integration_id', 'kind'), value: 'pseudonym', other: 'pseudonym' },
    entity_others: { ...ours('integration_id', 'kind'), value: 'pseudonym' },
    pruned_ends: { ...ours('integration_id', 'kind'), value: 'pseudonym' },
    row_counts: ours('integration_id', 'kind'),
    minute_counts: { ...ours('integration_id', 'scope'), value: 'pseudonym' },
    incident_counts: { ...ours('integration_id', 'kind', 'scope', 'type', 'severity'), value: 'pseudonym' },
    // Webhooks.
    domain_events: {
      ...ours('integration_id', 'id', 'type', 'skips', 'ended'),
      natural_key: 'renamed',
      payload: 'sealed',
    },
    webhook_subscriptions: {
      ...ours('integration_id', 'id'),
      ...settings('url', 'event_type', 'threshold', 'name', 'secret_sealed', 'previous_secret_sealed', 'told_state'),
      ...settings('disabled_reason', 'disabled_failure_class', 'last_delivery_status'),
    },
    webhook_deliveries: ours(
      'integration_id',
      'id',
      'subscription_id',
      'event_id',
      'event_type',
      'status',
      'failure_class',
    ),
    webhook_attempts: {
      ...ours('integration_id', 'delivery_id', 'subscription_id', 'failure_class', 'error_code'),
      address: 'settings',
      retry_after: 'removed',
    },
    webhook_answers: { ...ours('integration_id', 'delivery_id'), headers: 'removed', body: 'removed' },
    outcome_counts: ours('integration_id'),
    pruned_outcomes: ours('integration_id'),
    // Who did what.
    audit_entries: {
      ...ours('id', 'action', 'integration_id'),
      ...settings('actor_kind', 'actor_id', 'actor_name', 'client_address'),
      subject_id: 'hashed',
      details: 'hashed',
    },
    user_erasures: {
      ...ours('integration_id', 'id', 'user_hash', 'position', 'counts'),
      ...all('working', ['user_id', 'known_user', 'pseudonym']),
    },
    // Settings, keys, staff, usage.
    meta: settings('region'),
    integrations: settings('id', 'name', 'plan', 'status', 'allowed_origins', 'identity_secret'),
    api_keys: settings('id', 'integration_id', 'name', 'hash', 'first4', 'last4', 'scopes'),
    idempotency_keys: {
      ...ours('integration_id', 'api_key_id', 'key_hash', 'content_hash'),
      answer_sealed: 'expiring',
    },
    operator_notices: settings('integration_id', 'id', 'subscription_id', 'payload'),
    rate_windows: ours('bucket'),
    usage_daily: ours('integration_id', 'method', 'path'),
    staff: settings('id', 'email', 'name', 'role', 'password_hash'),
    staff_sessions: settings('token_hash', 'staff_id'),
    sign_in_windows: settings('bucket'),
    staff_invitations: settings('token_hash', 'email', 'staff_id', 'name', 'role', 'created_by'),
  }),
);
