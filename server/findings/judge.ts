import { createHash } from 'node:crypto';
import { findApiError } from '../../contract/errors';
import type { Database } from '../../db/client';
import { composeRecordset } from '../../db/recordset';
import { anomalies } from '../../db/schema';
import type { Fact } from '../pipeline/facts';
import { type Ingester, isInvalidFactError } from '../pipeline/ingest';
import type { OutboxEntry } from '../pipeline/rows';
import type { Logger } from '../platform/log';
import { createLookUps } from './history';
import { inferUser } from './inferred-user';
import type { FoundAnomaly } from './rule';
import { ANOMALY_RULES } from './rules';

const ID_LENGTH = 22;

/** Makes the id of an anomaly: the same for the same cause, so that a repeat is a duplicate. */
export function makeAnomalyId(integrationId: string, rule: string, cause: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([integrationId, rule, ...cause]));
  return `ano_${hash.digest('base64url').slice(0, ID_LENGTH)}`;
}

/** Creates a function that judges a session by the rules that an entry of the outbox concerns, and sends what they find. */
export function createFindingJudge({ db, log, ingester }: { db: Database; log: Logger; ingester: Ingester }) {
  const lookUps = createLookUps(db);

  return async ({ integrationId, sessionId, causes }: OutboxEntry): Promise<void> => {
    const session = await lookUps.readSession(integrationId, sessionId);
    if (!session) return;
    const history = lookUps.openHistory(integrationId, session);
    const rules = ANOMALY_RULES.filter(
      ({ name, causes: own }) => own.some((cause) => causes.includes(cause)) && !session.disabledRules.includes(name),
    );
    const found = await Promise.all(
      rules.map(async (rule) =>
        (await rule.find(session, history)).map((one) => describe(integrationId, rule.name, one)),
      ),
    );
    const facts: Fact[] = await leaveOutKnown(db, found.flat(), integrationId);
    if (causes.includes('closed') && !session.disabledRules.includes('Correlation')) {
      const inferred = await inferUser(session, history);
      if (inferred) facts.push(inferred);
    }
    if (facts.length > 0) await send(integrationId, facts);
  };

  async function send(integrationId: string, facts: Fact[]) {
    try {
      await ingester.ingestFacts({ integrationId, facts, isOurs: true });
    } catch (error) {
      if (!isInvalidFactError(error) && !findApiError(error)) throw error;
      // No repeat would help: a session was removed in the meantime.
      log.warn({ err: error, integrationId }, 'findings were refused');
    }
  }
}

type AnomalyFact = Extract<Fact, { kind: 'anomalyDetected' }>;

function describe(integrationId: string, anomalyType: string, { cause, userId, ...found }: FoundAnomaly): AnomalyFact {
  return {
    kind: 'anomalyDetected',
    anomalyId: makeAnomalyId(integrationId, anomalyType, cause),
    anomalyType,
    userId,
    isAnonymous: userId === null,
    ...found,
  };
}

/** Leaves out what was reported before: its content may have been judged from fewer facts. */
async function leaveOutKnown(db: Database, facts: AnomalyFact[], integrationId: string): Promise<AnomalyFact[]> {
  if (facts.length === 0) return [];
  const keys = facts.map(({ anomalyId: id }) => ({ integrationId, id }));
  const rows = await db.query<{ id: string }>(FIND_KNOWN, [JSON.stringify(keys)]);
  const known = new Set(rows.map(({ id }) => id));
  return facts.filter(({ anomalyId }) => !known.has(anomalyId));
}

const FIND_KNOWN = `
  select found.id from ${composeRecordset(anomalies, '$1', 'k', ['integrationId', 'id'])}
   cross join lateral (
     select a.id from anomalies a where a.integration_id = k."integrationId" and a.id = k.id limit 1) found`;
