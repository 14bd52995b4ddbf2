/**
 * Statements that read across all tenants: `spans` names the one reference that may. The others must follow from it.
 */
export const SPANNING: { reason: string; text: RegExp; spans: string[] }[] = [
  {
    reason: 'hashes of erased users and receipts end by their age, and erasures that wait are woken',
    text: /^(update user_erasures set (user_hash = null where user_hash is not null|woken_at = now\(\) where completed_at is null)|delete from user_erasures where completed_at <)/,
    spans: ['user_erasures'],
  },
  {
    reason: 'the operator is told of the subscriptions of every integration',
    text: /^select s\.integration_id as "integrationId", i\.name as "integrationName", .* where s\.deleted_at is null and \(s\.told_state in/,
    spans: ['s'],
  },
  {
    reason: 'a process sends the notices that are due, whomever they concern',
    text: /^with due as \( select integration_id, id from operator_notices where next_attempt_at <= now\(\)/,
    spans: ['due/operator_notices'],
  },
  {
    reason: 'a process withdraws the notices that nobody could send, whomever they concern',
    text: /^with stale as \( delete from operator_notices where next_attempt_at < now\(\) - interval '1 hour' returning integration_id/,
    spans: ['stale/operator_notices'],
  },
  {
    reason: 'the look-up of a key finds its integration',
    text: /^with found as \( select .* from api_keys k join integrations i on i\.id = k\.integration_id where k\.hash = \$1 and k\.revoked_at is null and coalesce\(k\.expires_at > now\(\), true\)\)/,
    spans: ['found/k'],
  },
  {
    reason: 'the operator names a key only by its id',
    text: /^(update "api_keys" set "revoked_at" = now\(\)|select "revoked_at" from "api_keys") where \(?"api_keys"\."id" = \$1(?! and "api_keys"\."integration_id")/,
    spans: ['api_keys'],
  },
  {
    reason: 'the operator sees the youngest key of every integration',
    text: /^select k\.integration_id as "integrationId", k\.first4, k\.last4 from api_keys k where k\.revoked_at is null and coalesce/,
    spans: ['k'],
  },
  {
    reason: 'the key of a site finds its integration',
    text: /^select s\.id as "siteId", s\.integration_id as "integrationId", .* from sites s join integrations i on i\.id = s\.integration_id .*where s\.site_key = \$1$/,
    spans: ['s'],
  },
  {
    reason: 'a site that was found is known by its id',
    text: /^update sites set first_batch_at = now\(\) where id = \$1/,
    spans: ['sites'],
  },
  {
    reason: 'the operator names a site only by its id',
    text: /^(update "sites" set "revoked_at" = now\(\)|select "revoked_at" from "sites") where \(?"sites"\."id" = \$1(?! and "sites"\."integration_id")/,
    spans: ['sites'],
  },
  {
    reason: 'the operator sees the sites of every integration',
    text: /^select "id", "integration_id", "site_key", .* from "sites" order by/,
    spans: ['sites'],
  },
  {
    reason: 'the operator and staff see all integrations',
    text: /^select "id", "name", "plan"(, "status", "created_at")? from "integrations" order by/,
    spans: ['integrations'],
  },
  {
    reason: 'a job looks for the integrations that have something older than it is kept',
    text: /^select i\.id, i\.plan from integrations i where .* < now\(\) - /,
    spans: ['i'],
  },
  {
    reason: 'a job looks for the integrations that have deleted webhooks',
    text: /^select distinct integration_id as id from webhook_subscriptions where deleted_at </,
    spans: ['webhook_subscriptions'],
  },
  {
    reason: 'a job looks for the integrations that have deleted alert rules',
    text: /^select distinct integration_id as id from alert_rules where deleted_at </,
    spans: ['alert_rules'],
  },
  {
    reason: 'a job looks for the integrations that have many entries of keys',
    text: /^select integration_id as id from audit_entries where actor_kind = 'ApiKey' group by/,
    spans: ['audit_entries'],
  },
  {
    reason: 'a job looks for the integrations that have old traces',
    text: /^select distinct c\.integration_id as id from collected_sessions c join integrations i/,
    spans: ['c'],
  },
  {
    reason:
      'the operator sees what was done to every integration, and admins what was done to accounts, which belong to none',
    text: /^select "id", "occurred_at", .* from "audit_entries" (order by|where "audit_entries"\."integration_id" is null|where \("audit_entries"\."integration_id" is null and)/,
    spans: ['audit_entries'],
  },
  {
    reason: 'admins see how much was done to accounts, which belong to none',
    text: /^select count\(\*\)::int as count from \(select from audit_entries where \$1::text is not null and integration_id is null limit/,
    spans: ['r/audit_entries'],
  },
  {
    reason: 'a sweep ends what can never be sent, for all tenants',
    text: /^with tests as \( select integration_id, id from webhook_deliveries where is_test .* update webhook_deliveries d set status = 'PoisonAborted'/,
    spans: ['tests/webhook_deliveries', 'held/s/webhook_subscriptions'],
  },
  {
    reason: 'a sweep gives back what dead processes held, for all tenants',
    text: /^with expired as \( select integration_id, id, crashes \+ 1 >= 5 as is_poison from webhook_deliveries where status = 'Pending' and lease is not null/,
    spans: ['expired/webhook_deliveries'],
  },
  {
    reason: 'a sweep looks for subscriptions that wait for no retry any more, for all tenants',
    text: /^with leased as materialized \( select distinct integration_id, subscription_id from webhook_deliveries where status = 'Pending' and lease is not null\)/,
    spans: ['leased/webhook_deliveries', 'ended/s'],
  },
  {
    reason: 'a sweep looks for what is overdue, for all tenants',
    text: /^select s\.integration_id as "integrationId", s\.id as "subscriptionId" from webhook_subscriptions s where s\.enabled and s\.deleted_at is null and exists/,
    spans: ['s'],
  },
  {
    reason: 'a sweep looks for what waits although the engine was told, for all tenants',
    text: /^select s\.integration_id as "integrationId", s\.id as "subscriptionId" from webhook_subscriptions s where s\.enabled and s\.deleted_at is null and s\.nudged_at is not null/,
    spans: ['s', 'webhook_deliveries'],
  },
  {
    reason: 'old answers of receivers are removed, for all tenants',
    text: /^with old as \( select integration_id, delivery_id, resend, attempt from webhook_answers where received_at/,
    spans: ['old/webhook_answers'],
  },
  {
    reason: 'old signing secrets are removed, for all tenants',
    text: /select integration_id, id from webhook_subscriptions where previous_secret_until <= now\(\) order by .* set previous_secret_sealed = null/,
    spans: ['old/webhook_subscriptions'],
  },
  {
    reason: 'the changes of all sessions are folded at once',
    text: /^insert into [a-z_]+ \(integration_id, .* from session_deltas cross join lateral/,
    spans: ['session_deltas'],
  },
  {
    reason: 'the changes of all sessions are added up at once',
    text: /^with cells as \( select integration_id, hour, .* from session_deltas .*\) insert into/,
    spans: ['cells/session_deltas'],
  },
  {
    reason: 'users and devices that the changes name are counted again',
    text: /^with changed as materialized \( select .*integration_id, kind, value, .* from session_deltas/,
    spans: ['changed/session_deltas'],
  },
  {
    reason: 'counts of rows are added up for all tenants',
    text: /^with folded as \(delete from row_counts/,
    spans: ['folded/row_counts'],
  },
  {
    reason: 'counts of anomalies and failed deliveries are added up for all tenants',
    text: /^with folded as \(delete from incident_counts/,
    spans: ['folded/incident_counts'],
  },
  {
    reason: 'counts of ended deliveries are added up for all tenants',
    text: /^with folded as \(delete from outcome_counts/,
    spans: ['folded/outcome_counts'],
  },
  {
    reason: 'a job looks for the integrations whose sessions are not counted by minute yet',
    text: /^select id from integrations where minutes_recounted_to is not null/,
    spans: ['integrations'],
  },
  {
    reason: 'a job looks for the integrations that have alert rules',
    text: /^select distinct r\.integration_id as "integrationId" from alert_rules r where \(r\.enabled/,
    spans: ['r'],
  },
  {
    reason: 'what is folded is removed',
    text: /^delete from session_deltas returning 1$/,
    spans: ['session_deltas'],
  },
  {
    reason: 'a sweep takes the sessions of pages that are over, for all tenants',
    text: /^update collected_sessions set due_at = now\(\) \+ \$2::int/,
    spans: ['collected_sessions'],
  },
  {
    reason: 'a sweep looks for sessions whose process died, for all tenants',
    text: /^select k\.key, c\."integrationId" from \( select distinct session_key as key from session_batches/,
    spans: ['c/c'],
  },
  {
    reason: 'a process that starts looks for sessions that were left behind, for all tenants',
    text: /^select key, integration_id as "integrationId" from collected_sessions c where due_at is not null/,
    spans: ['c'],
  },
  {
    reason: 'a sweep looks for cuts whose process died before it sent their facts, for all tenants',
    text: /^select c\.key, c\.integration_id as "integrationId", c\.version from collected_sessions c left join lateral/,
    spans: ['c'],
  },
  {
    reason: 'an open session is known by its number, which no caller gives',
    text: /^select c\.key, c\.day::text, c\.integration_id/,
    spans: ['c'],
  },
  {
    reason: 'cuts of many sessions are written by their numbers',
    text: /^with r as materialized \( select \* from json_to_recordset\(\$1::text::json\) as r\( key bigint, version int/,
    spans: ['f/c/c', 'c'],
  },
  {
    reason: 'staff, who belong to no tenant, follow a link that names no integration',
    text: /^select integration_id as "integrationId", name, format, state, .* from report_jobs where id = \$1$/,
    spans: ['report_jobs'],
  },
  {
    reason: 'a look makes the reports of schedules that are due, for all tenants',
    text: /^with due as materialized \( select s\.\*, .* from report_schedules where next_due_at <= now\(\)/,
    spans: ['due/s/report_schedules'],
  },
  {
    reason: 'a look finds the reports that nobody renders, for all tenants',
    text: /^with lost as \( select integration_id, id from report_jobs where state in/,
    spans: ['lost/report_jobs'],
  },
  {
    reason: 'a look finds the reports whose files must go, for all tenants',
    text: /^select integration_id as "integrationId", id as "reportId", store, .* from report_jobs where \(expires_at, id\) >/,
    spans: ['report_jobs'],
  },
  {
    reason: 'a sweep takes sessions whose findings were left behind, for all tenants',
    text: /^update fact_outbox o set due_at/,
    spans: ['o', 'fact_outbox'],
  },
  {
    reason: 'a job looks for the days of which sessions are to be drawn, for all tenants',
    text: /^select i\.id, to_char\(day, 'YYYY-MM-DD'\) as day, i\.review_sample_size/,
    spans: ['i'],
  },
  {
    reason: 'a closed session is known by its number',
    text: /^with ended as \( update collected_sessions/,
    spans: ['ended/collected_sessions'],
  },
];
/** Not a query: it reads no row for anyone. */
export const NO_QUERY = /^(analyze [a-z_]+(, [a-z_]+)*|lock table sessions in share mode)$/;
