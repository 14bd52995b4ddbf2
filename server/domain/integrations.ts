import { and, count, eq, isNull } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type { Integration, IntegrationEntry, KeyScope, Region } from '../../contract/integrations';
import { PLANS, type Plan } from '../../contract/tiers';
import type { Database } from '../../db/client';
import { integrations, webhookSubscriptions } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import { createId } from '../platform/ids';
import { IS_USABLE, listMaskedKeys, maskKey } from './api-keys';
import type { DomainContext, IntegrationScope } from './context';

/** Reads the integration of the calling key (specification: GET /v1/integration). */
export async function getIntegration(
  context: DomainContext & Pick<FoundIntegration, 'apiKeyMasked' | 'apiKeyScopes'> & { region: Region },
): Promise<Integration> {
  const [row] = await context.db.orm
    .select({ integration: integrations, active: count(webhookSubscriptions.id) })
    .from(integrations)
    .leftJoin(
      webhookSubscriptions,
      and(
        eq(webhookSubscriptions.integrationId, integrations.id),
        eq(webhookSubscriptions.enabled, true),
        isNull(webhookSubscriptions.deletedAt),
      ),
    )
    .where(eq(integrations.id, context.integration.id))
    .groupBy(integrations.id);
  if (!row) throw new ApiError('NOT_FOUND', 'Integration not found');
  const { id, name, plan, status, allowedOrigins, createdAt } = row.integration;
  const { tier, maxActiveWebhooks } = PLANS[plan];
  return {
    id,
    name,
    plan,
    serviceTier: tier,
    region: context.region,
    status,
    allowedOrigins,
    apiKeyMasked: context.apiKeyMasked,
    apiKeyScopes: context.apiKeyScopes,
    webhooks: { active: row.active, max: maxActiveWebhooks },
    createdAt,
  };
}

/** What a call needs to know of its integration. */
export interface FoundIntegration {
  integration: IntegrationScope;
  /** The newest key that is not revoked, or empty. */
  apiKeyMasked: string;
  /** Of the same key; empty without one. */
  apiKeyScopes: KeyScope[];
}

/** Finds an integration for staff, who have no key of it. Returns null for an unknown id. */
export async function findIntegration(db: Database, id: string): Promise<FoundIntegration | null> {
  const [row] = await db.query<FoundRow>(FIND, [id]);
  if (!row) return null;
  const { plan, mediumAt, botAt, first4, last4, scopes } = row;
  return {
    integration: { id, plan, tier: PLANS[plan].tier, mediumAt, botAt },
    apiKeyMasked: first4 === null ? '' : maskKey({ first4, last4 }),
    apiKeyScopes: scopes ?? [],
  };
}

interface FoundRow {
  plan: Plan;
  mediumAt: number;
  botAt: number;
  first4: string | null;
  last4: string;
  scopes: KeyScope[] | null;
}

const FIND = `
  select i.plan, i.medium_at as "mediumAt", i.bot_at as "botAt", k.first4, k.last4, k.scopes
    from integrations i
    left join lateral (select first4, last4, scopes from api_keys k where k.integration_id = i.id and ${IS_USABLE}
                        order by k.created_at desc, k.id desc limit 1) k on true
   where i.id = $1`;

/** Lists all integrations of the stack for staff, by name. */
export async function listIntegrationEntries(db: Database, region: Region): Promise<IntegrationEntry[]> {
  const { id, name, plan, status, createdAt } = integrations;
  const rows = await db.orm
    .select({ id, name, plan, status, createdAt })
    .from(integrations)
    .orderBy(integrations.name, integrations.id);
  return rows.map((row) => ({ ...row, region }));
}

/** Creates an integration. */
export async function createIntegration(
  { db, actor }: AuditedContext,
  input: { name: string; plan: Plan; allowedOrigins: string[] },
): Promise<{ id: string }> {
  const id = createId('int');
  await db.orm.transaction(async (tx) => {
    await tx.insert(integrations).values({ id, ...input });
    await recordAct(tx, actor, { action: 'IntegrationCreated', integrationId: id, subjectId: id, details: input });
  });
  return { id };
}

export interface IntegrationSummary {
  id: string;
  name: string;
  plan: Plan;
  /** The newest key that is neither revoked nor expired; null if there is none. */
  apiKeyMasked: string | null;
}

/** Lists all integrations of the stack, oldest first. */
export async function listIntegrations(db: Database): Promise<IntegrationSummary[]> {
  const rows = await db.orm
    .select({ id: integrations.id, name: integrations.name, plan: integrations.plan })
    .from(integrations)
    .orderBy(integrations.createdAt, integrations.id);
  const maskedKeys = await listMaskedKeys(db);
  return rows.map((row) => ({ ...row, apiKeyMasked: maskedKeys.get(row.id) ?? null }));
}
