import { SETUP_STEPS, type Setup } from '../../contract/setup';
import { PLANS } from '../../contract/tiers';
import { IS_USABLE } from './api-keys';
import type { DomainContext } from './context';

interface SetupRow {
  origins: number;
  firstAt: string | null;
  firstOrigin: string | null;
  hasSessions: boolean;
  activeKeys: number;
  lastUsedAt: string | null;
  activeWebhooks: number;
  latestWebhookId: string | null;
  deliveredAt: string | null;
}

/** Says how far the integration is set up: from what is stored, in one statement along indexes. */
export async function getSetup({ db, integration }: Pick<DomainContext, 'db' | 'integration'>): Promise<Setup> {
  const [row] = await db.query<SetupRow>(READ, [integration.id]);
  const { origins, firstAt, firstOrigin, hasSessions, activeKeys, lastUsedAt, ...webhooks } = row!;
  const max = PLANS[integration.plan].maxActiveWebhooks;
  const done = {
    origins: origins > 0,
    pixel: firstAt !== null,
    apiKey: activeKeys > 0,
    webhook: max === 0 ? null : webhooks.deliveredAt !== null,
  };
  return {
    done,
    isComplete: SETUP_STEPS.every((step) => done[step] !== false),
    hasSessions,
    firstEvent: firstAt === null ? null : { at: firstAt, origin: firstOrigin },
    keys: { active: activeKeys, lastUsedAt },
    webhooks: {
      active: webhooks.activeWebhooks,
      max,
      latestId: webhooks.latestWebhookId,
      deliveredAt: webhooks.deliveredAt,
    },
  };
}

/** How many of the latest deliveries of a subscription are looked at. */
const LATEST_DELIVERIES = 20;

/** The origin is that of the session of the first batch, so of one that began about then. Those that the demo loads are older. */
const READ = `
  select cardinality(i.allowed_origins) as origins, site.first_batch_at as "firstAt", session.origin as "firstOrigin",
         exists (select from sessions s where s.integration_id = $1) as "hasSessions",
         keys.active as "activeKeys", keys.used as "lastUsedAt",
         hooks.active as "activeWebhooks", hooks.latest as "latestWebhookId", hooks.delivered as "deliveredAt"
    from integrations i
    left join lateral (
         select s.id, s.first_batch_at from sites s
          where s.integration_id = i.id and s.revoked_at is null and s.first_batch_at is not null
          order by s.first_batch_at limit 1) site on true
    left join lateral (
         select e.origin from collected_sessions c
           join sessions e on e.integration_id = c.integration_id and e.id = c.session_id
          where c.integration_id = i.id and c.site_id = site.id
            and c.created_at between site.first_batch_at - interval '1 minute' and site.first_batch_at + interval '1 minute'
          order by c.created_at limit 1) session on true
    cross join lateral (
         select count(*)::int as active, max(k.last_used_at) as used from api_keys k
          where k.integration_id = i.id and ${IS_USABLE}) keys
    cross join lateral (
         select count(*)::int as active, (array_agg(w.id order by w.created_at desc, w.id desc))[1] as latest,
                max(d.finished_at) as delivered
           from webhook_subscriptions w
           left join lateral (
                select max(n.finished_at) filter (where n.status = 'Delivered') as finished_at from (
                  select l.status, l.finished_at from webhook_deliveries l
                   where l.integration_id = w.integration_id and l.subscription_id = w.id
                   order by l.created_at desc, l.id desc limit ${LATEST_DELIVERIES}) n) d on true
          where w.integration_id = i.id and w.enabled and w.deleted_at is null) hooks
   where i.id = $1`;
