import { describe, expect, it } from 'vitest';
import { pruneFindings } from '../../../server/domain/retention';
import { Customer } from '../../support/customer';
import { server } from './shared-server';

// Old findings, and deleted rules.

export function registerFindingTests(): void {
  describe('findings older than the plan’s retention', () => {
    it('are removed in batches, except reports that can still be downloaded', async () => {
      const customer = await Customer.create(server, [], 'free');
      const neighbour = await Customer.create(server, [], 'enterprise');
      const { sql } = server.database.db;
      for (const { id } of [customer, neighbour]) {
        await sql`
          insert into writing_scores (integration_id, session_id, scored_at, ai_score)
          select ${id}, 'w-' || n, now() - interval '31 days' + n * interval '1 ms', 0.5 from generate_series(1, 1234) n
          union all select ${id}, 'w-1', now() - interval '29 days', 0.5`;
        await sql`
          insert into alerts (integration_id, id, severity, message, triggered_at)
          select ${id}, 'alr-' || days, 'high', '', now() - days * interval '1 day' from generate_series(29, 31) days`;
        await sql`
          insert into reports (integration_id, id, name, template_id, format, completed_at, expires_at, download_url)
          select ${id}, 'rep-' || coalesce(left_days, 0), '', '', 'csv', now() - interval '31 days', now() + left_days * interval '1 day', '/'
            from (values (-1), (1), (null)) r(left_days)`;
      }
      const list = async ({ id }: Customer) => {
        const [row] = await sql`
          select (select count(*)::int from writing_scores where integration_id = ${id}) as scores,
                 (select string_agg(id, ' ' order by id) from alerts where integration_id = ${id}) as alerts,
                 (select string_agg(id, ' ' order by id) from reports where integration_id = ${id}) as reports`;
        return row;
      };
      const before = await list(neighbour);
      expect(await pruneFindings(server.database.db)).toBe(1234 + 2 + 2);
      expect(await list(customer)).toEqual({ scores: 1, alerts: 'alr-29', reports: 'rep-1' });
      expect(await list(neighbour)).toEqual(before);
      expect(await pruneFindings(server.database.db)).toBe(0);
    });
  });

  describe('deleted alert rules', () => {
    it('are removed after an hour, once no alert is left of them', async () => {
      const customer = await Customer.create(server, [], 'free');
      const { sql } = server.database.db;
      await sql`
        insert into alert_rules (integration_id, id, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions,
                                 severity, message, cool_down_minutes, enabled, deleted_at, unsent)
        select ${customer.id}, name, '', 'botSessions', 'integration', '', 5, 'gte', 1, 1, 'low', '', 5, false,
               now() - minutes * interval '1 minute', unsent::jsonb
          from (values ('gone', 61, null), ('told', 61, null), ('claimed', 61, '[]'), ('fresh', 59, null), ('live', null, null))
               r(name, minutes, unsent)`;
      await sql`insert into alerts (integration_id, id, severity, message, triggered_at, rule_id)
                values (${customer.id}, 'a', 'low', '', now() - interval '29 days', 'told')`;
      const left = async () =>
        (await sql`select id from alert_rules where integration_id = ${customer.id} order by id`).map(({ id }) => id);
      await sql.begin(async (tx) => {
        // The server would send what is unsent.
        const locked = await tx`
          select unsent from alert_rules where integration_id = ${customer.id} and id = 'claimed' for update`;
        expect(locked).toEqual([{ unsent: [] }]);
        expect(await pruneFindings(server.database.db)).toBe(1);
        expect(await left()).toEqual(['claimed', 'fresh', 'live', 'told']);
        await sql`update alerts set triggered_at = now() - interval '31 days' where integration_id = ${customer.id}`;
        expect(await pruneFindings(server.database.db)).toBe(2);
        expect(await left()).toEqual(['claimed', 'fresh', 'live']);
      });
    });
  });
}
