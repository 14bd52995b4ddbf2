import { describe, expect, it } from 'vitest';
import { COURSE_SORTS, SESSION_SORTS, USER_SORTS } from '../../../contract/sort-orders';
import { MAX_COUNTED } from '../../../contract/totals';
import { MAX_SORTED } from '../../../server/domain/session-walks';
import { foldCounts } from '../../support/count-rows';
import * as facts from '../../support/facts';
import { countRead, explainStatement } from '../../support/plans';
import { recordStatements } from '../../support/statements';
import { loadVolumes } from '../../support/volume';
import { ask, type ours, server } from './two-tenants';

const LARGE =
  /^(sessions|session_verdicts|session_flags|users|courses|search_words|audit_entries|anomalies|alerts|reports|writing_scores|(minute|incident)_counts|domain_events|webhook_(attempts|deliveries)|entity_\w+)$/;

/**
 * Their statements read up to a tenth more than others: lists that no count knows are counted up to 1,000 rows, and rates follow from all
 * labels of 90 days, which a tenth of the sessions has here.
 */
const READS_MORE = new Set([
  ...['errorRates.get', 'deliveries.count', 'sessions.count', 'anomalies.count', 'alerts.count', 'audit.count'],
]);

const RULE = {
  ...{ name: 'n', windowMinutes: 10_080, comparison: 'gte', value: 1_000, severity: 'low', message: 'm' },
};

export function registerIndexReadTests(): void {
  describe('each query of the dashboard reads a part of an index', () => {
    it('that begins with the integration, however many rows others have', async () => {
      const tenants = [await server.createTenant(), await server.createTenant(), await server.createTenant()];
      const { sql } = server.database.db;
      await loadVolumes(
        server.database.db,
        tenants.map(({ id }) => ({ integrationId: id, sessions: 10_000 })),
      );
      for (const { id } of tenants) {
        await sql`insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
                select integration_id, event_id, 'BotDetected', substr(event_id, 5), '{}', created_at from webhook_deliveries
                 where integration_id = ${id} and event_id is not null`;
        // So many that reading all of them never costs less than the part that is counted.
        await sql`insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, attempts, created_at, finished_at)
                select integration_id, 'dlv-more-' || id, 'whk-1', 'evt-more-' || id, 'Delivered', 1, created_at, created_at
                  from sessions where integration_id = ${id}`;
        await sql`insert into webhook_attempts (integration_id, delivery_id, subscription_id, attempt, started_at, duration_ms)
                select integration_id, id, subscription_id, 1, created_at, 5 from webhook_deliveries where integration_id = ${id}`;
        await sql`insert into alerts (integration_id, id, severity, message, triggered_at, rule_id)
                select integration_id, id, 'high', 'm', created_at, case when id like '%77' then 'rul-1' end
                  from sessions where integration_id = ${id}`;
        await sql`insert into alert_rules (integration_id, id, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions,
                                         severity, message, cool_down_minutes, enabled)
                values (${id}, 'rul-1', 'n', 'botSessions', 'user', 'user-00007', 60, 'gte', 1000, 20, 'low', 'm', 60, true)`;
        await sql`insert into reports (integration_id, id, name, template_id, format, completed_at, download_url)
                select integration_id, id, 'n', 't', 'csv', created_at, '/' from sessions where integration_id = ${id}`;
        await sql`insert into writing_scores (integration_id, session_id, scored_at, ai_score, user_id, browsing_session_id)
                select integration_id, id, created_at, 0.5, user_id, id from sessions where integration_id = ${id}`;
        // Very many labels in the audit log, and few changes of thresholds.
        await sql`insert into audit_entries (id, occurred_at, action, actor_kind, integration_id, subject_id, details)
                select ${id} || id, created_at, case when id like '%777' then 'ThresholdsChanged' else 'SessionLabeled' end, 'Staff',
                       integration_id, id, '{"before": {"mediumAt": 40, "botAt": 70}, "after": {"mediumAt": 40, "botAt": 70}}'
                  from sessions where integration_id = ${id}`;
        await sql`insert into session_verdicts (integration_id, session_id, decided_at, label, actor_kind)
                select integration_id, id, created_at, 1, 'Staff' from sessions where integration_id = ${id}`;
        await sql`update anomalies set type = 'Rare' where integration_id = ${id} and id = 'anomaly-ses-31'`;
      }
      await sql`analyze`;
      const of = tenants[1] as typeof ours;
      const recorder = recordStatements(server.service.db);
      /** Some with how many rows of a table their statements may read. */
      const calls: [name: string, input: object | undefined, most?: number][] = [
        ['search.find', { query: 'somebody' }],
        ['search.find', { query: 'ses-1' }],
        ...SESSION_SORTS.map((sort): [string, object, number] => ['sessions.listSorted', { sort }, MAX_SORTED + 1]),
        ...USER_SORTS.slice(1).map((sort): [string, object] => ['users.listSorted', { sort, pageSize: 5 }]),
        ...COURSE_SORTS.slice(1).map((sort): [string, object] => ['courses.listSorted', { sort, pageSize: 5 }]),
        ...[{}, { riskLevel: 'bot' }, { label: 'bot' }, { userId: 'user-00007' }, { courseId: 'course-00007' }].map(
          (filters): [string, object] => ['sessions.count', filters],
        ),
        ...[
          { origin: 'https://lms1.example.edu' },
          { detectionFlag: 'webdriver' },
          { fingerprint: 'device-00000' },
        ].map((filters): [string, object, number] => ['sessions.count', filters, MAX_COUNTED + 2]),
        ['users.count', undefined],
        ['courses.count', undefined],
        ['anomalies.count', { userId: 'user-00007' }],
        ['anomalies.list', { sort: 'oldest' }],
        ['deliveries.count', { id: 'whk-1' }, MAX_COUNTED + 2],
        ['deliveries.list', { id: 'whk-1', sort: 'oldest' }],
        ['savedViews.list', undefined],
        ['anomalies.list', {}],
        ['anomalies.list', { sessionId: 'ses-62' }],
        ['anomalies.list', { userId: 'user-00007' }],
        ['anomalies.list', { anomalyType: 'Rare' }],
        ['anomalies.list', { severity: 'low' }],
        ['anomalies.list', { status: 'Open' }],
        ['anomalies.list', { status: 'Acknowledged' }],
        ['anomalies.list', { status: 'Resolved' }],
        ['alerts.list', {}],
        ['alerts.list', { status: 'Open' }],
        ['alerts.list', { status: 'Acknowledged' }],
        ['alerts.list', { status: 'Resolved' }],
        ['alerts.count', {}],
        ['alerts.count', { ruleId: 'rul-1' }],
        ['alerts.list', { ruleId: 'rul-1' }],
        ['alertRules.list', undefined],
        ['alertRules.preview', { ...RULE, metric: 'botSessions', scope: { kind: 'user', value: 'user-00007' } }],
        ['alertRules.preview', { ...RULE, metric: 'anomalies', scope: { kind: 'user', value: 'user-00007' } }],
        ['reports.list', {}],
        ['writing.list', {}],
        ['writing.list', { browsingSessionId: 'ses-62' }],
        ['writing.list', { userId: 'user-00007' }],
        ['webhooks.previewThreshold', { eventType: 'BotDetected' }],
        ['webhooks.previewThreshold', { eventType: 'ReportReady' }],
        ['webhooks.getHealth', { id: 'whk-1' }],
        ['webhooks.getHealth', { id: 'whk-2' }],
        ['webhookStates.list', undefined],
        ['webhookStates.count', undefined],
        ['sessions.listDeliveries', { sessionId: 'ses-61' }],
        ['sessions.getContext', { sessionId: 'ses-61' }],
        ['sessions.listPages', { sessionId: 'ses-61' }],
        ['sessions.getEvidenceReport', { sessionId: 'ses-61' }],
        ['review.listQueue', {}],
        ['review.listQueue', { queue: 'sample' }],
        ['review.listCases', { sessionIds: ['ses-61', 'ses-62'] }],
        ['review.listVerdicts', { since: facts.secondsAgo(3_600) }],
        ['users.get', { userId: 'user-00007' }],
        ['courses.get', { courseId: 'course-00007' }],
        ['users.listDevices', { userId: 'user-00007' }],
        ['sessions.getHistory', { sessionId: 'ses-62' }],
        ['errorRates.get', undefined],
      ];
      // All counts read every row in `session_deltas`.
      await foldCounts(server.service.db);
      await sql`analyze`;
      for (const [name, input, most] of calls) {
        recorder.take();
        await ask(name, input, of);
        // Crons read across tenants meanwhile.
        const statements = recorder.take().filter(({ parameters }) => parameters.includes(of.id));
        expect([name, statements.length > 0]).toEqual([name, true]);
        for (const statement of statements) {
          for (const plan of statement.isPrepared ? (['custom', 'generic'] as const) : (['custom'] as const)) {
            const nodes = await explainStatement(sql, statement, plan);
            const read = nodes.filter((node) => LARGE.test(node['Relation Name'] ?? ''));
            for (const node of read)
              expect([
                name,
                input,
                plan,
                node['Relation Name'],
                countRead(node) < (most ?? (READS_MORE.has(name) ? 1_100 : 1_000)) || countRead(node),
              ]).toEqual([name, input, plan, node['Relation Name'], true]);
          }
        }
      }
      recorder.stop();
    });
  });
}
