import type { RiskThresholds } from '../../contract/risk-thresholds';
import { PLAN_NAMES, PLANS } from '../../contract/tiers';
import type { Query } from '../../db/client';
import { composeRecordset, lookUpRecords, sortByKey } from '../../db/recordset';
import { anomalies, sessions } from '../../db/schema';
import { findErasedUsers, makeUserKey } from '../domain/erased-users';
import type { SubscriptionState } from '../webhooks/planning';
import { createSessionDraft, makePairKey, type SessionRow, type Tenant } from './draft';
import { findFactKind, type IngestInput, RECORD_KINDS } from './facts';
import { NamedKeys } from './named-keys';
import { type RecordKind, type RecordRow, Records } from './records';

/** What batches need to know: their tenants, the stored rows that they name, and the subscriptions. */
export interface IngestState {
  tenants: Map<string, Tenant & { subscriptions: SubscriptionState[] }>;
}

function collectKeys({ integrationId, facts }: IngestInput): NamedKeys {
  const keys = new NamedKeys(integrationId);
  for (const fact of facts) {
    const kind = findFactKind(fact);
    kind.nameKeys(fact, keys);
    for (const userId of kind.listUsers?.(fact) ?? []) keys.userIds.add(userId);
  }
  return keys;
}

/** Lists the users whose confirmed devices are read. Only anomalies need them. */
function listSuspects(named: NamedKeys[]) {
  if (named.every(({ suspects }) => suspects.length === 0)) return [];
  return named.flatMap(({ integrationId, suspects, correlatedUserIds }) => [
    ...suspects,
    // A correlation of the same group may change the user of the anomaly's session.
    ...[...correlatedUserIds].map((userId) => ({ integrationId, userId, sessionId: null })),
  ]);
}

const sessionKey = (integrationId: string, sessionId: string) => `${integrationId}\n${sessionId}`;

const listSessionKeys = (named: NamedKeys[], ids: (keys: NamedKeys) => Set<string>) =>
  named.flatMap((keys) => Array.from(ids(keys), (id) => ({ integrationId: keys.integrationId, id })));

/**
 * Reads what the batches need. Locks the sessions that they name, in sorted order, so that other writers of these sessions
 * wait. The statements are sent together; those after the lock see what the previous holder of the lock committed. Records of
 * a session that starts here are read only if the session turns out to exist.
 */
export async function readState(
  query: Query,
  batches: IngestInput[],
  { publicUrl, erasureKey }: { publicUrl: string | null; erasureKey: Buffer },
): Promise<IngestState> {
  const named = batches.map(collectKeys);
  const newSessions = new Set(
    listSessionKeys(named, ({ newSessionIds }) => newSessionIds).map((key) => sessionKey(key.integrationId, key.id)),
  );
  /** Runs a query only if its list is not empty. Most batches name nothing of most kinds. */
  const read = <Row extends object>(text: string, list: unknown[]): Row[] | Promise<Row[]> =>
    list.length > 0 ? query<Row>(text, [JSON.stringify(list)]) : [];
  /** Reads the named records of some kinds. Records of a session are read only if `isRead` accepts the session. */
  const readRecords = (kinds: RecordKind[], isRead: (sessionKey: string) => boolean) =>
    Promise.all(
      kinds.map(async (kind) => {
        const list = named.flatMap(({ records }) => records.get(kind) ?? []);
        const chosen = kind.isOfSession
          ? list.filter(({ integrationId, sessionId }) => isRead(sessionKey(integrationId, sessionId!)))
          : list;
        return { kind, rows: await read<RecordRow>(READ_RECORDS.get(kind)!, chosen) };
      }),
    );
  const users = named.flatMap(({ integrationId, userIds }) =>
    Array.from(userIds, (userId) => ({ integrationId, userId })),
  );
  const [tenants, sessionRows, confirmations, erasedUsers, records] = await Promise.all([
    read<TenantRow>(READ_TENANTS, [...new Set(batches.map(({ integrationId }) => integrationId))]),
    read<SessionRow>(
      LOCK_SESSIONS,
      sortByKey(
        listSessionKeys(named, ({ sessionIds }) => sessionIds),
        ['integrationId', 'id'],
      ),
    ),
    read<{ integrationId: string; userId: string; fingerprint: string }>(READ_CONFIRMATIONS, listSuspects(named)),
    findErasedUsers(query, erasureKey, users),
    readRecords(RECORD_KINDS, (key) => !newSessions.has(key)),
  ]);
  const existingSessions = new Set(
    sessionRows.map((row) => sessionKey(row.integrationId, row.id)).filter((key) => newSessions.has(key)),
  );
  const more =
    existingSessions.size > 0 ? await readRecords(RECORDS_OF_SESSIONS, (key) => existingSessions.has(key)) : [];
  const state: IngestState = { tenants: new Map() };
  for (const { id, mediumAt, botAt, now, subscriptions } of tenants) {
    const confirmed = confirmations.filter(({ integrationId }) => integrationId === id);
    state.tenants.set(id, {
      integrationId: id,
      thresholds: { mediumAt, botAt },
      now,
      publicUrl,
      sessions: new Map(),
      records: new Records(),
      confirmations: new Set(confirmed.map(({ userId, fingerprint }) => makePairKey(userId, fingerprint))),
      erasedUserIds: new Set(
        users
          .filter((user) => user.integrationId === id && erasedUsers.has(makeUserKey(user)))
          .map(({ userId }) => userId),
      ),
      subscriptions: JSON.parse(subscriptions),
    });
  }
  for (const row of sessionRows)
    state.tenants.get(row.integrationId)?.sessions.set(row.id, createSessionDraft(row, false));
  for (const { kind, rows } of [...records, ...more])
    for (const row of rows) state.tenants.get(row.integrationId)?.records.add(kind, row);
  return state;
}

type TenantRow = RiskThresholds & { id: string; now: string; subscriptions: string };

const PLANS_WITHOUT_WEBHOOKS = PLAN_NAMES.filter((plan) => PLANS[plan].maxActiveWebhooks === 0);

// A plan without webhooks also forbids those that something else disabled before.
const READ_TENANTS = `
  select i.id, i.medium_at as "mediumAt", i.bot_at as "botAt", now() as now,
         (select coalesce(json_agg(json_build_object(
                   'integrationId', s.integration_id, 'id', s.id, 'eventType', s.event_type, 'threshold', s.threshold,
                   'enabled', s.enabled, 'disabledReason',
                   case when i.plan = any ('{${PLANS_WITHOUT_WEBHOOKS}}') then 'auto:plan-limit' else s.disabled_reason end)), '[]')::text
            from webhook_subscriptions s where s.integration_id = i.id and s.deleted_at is null) as subscriptions
    from integrations i where i.id in (select json_array_elements_text($1::text::json))`;

const LOCK_SESSIONS = lookUpRecords(sessions, '$1', ['integrationId', 'id'], 'for update');

const RECORDS_OF_SESSIONS = RECORD_KINDS.filter(({ isOfSession }) => isOfSession);
const READ_RECORDS = new Map(
  RECORD_KINDS.map((kind) => [kind, lookUpRecords(kind.table, '$1', ['integrationId', ...kind.key])]),
);

const READ_CONFIRMATIONS = `
  select c.integration_id as "integrationId", c.user_id as "userId", c.fingerprint
    from ${composeRecordset(anomalies, '$1', 'k', ['integrationId', 'userId', 'sessionId'])}
    left join sessions s on s.integration_id = k."integrationId" and s.id = k."sessionId"
    join device_confirmations c
      on c.integration_id = k."integrationId" and c.user_id = coalesce(k."userId", s.user_id)`;
