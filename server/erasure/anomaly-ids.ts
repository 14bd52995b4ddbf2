import type { Database } from '../../db/client';
import type { RunningErasure } from './running-erasure';

const ROWS_PER_BATCH = 500;

/**
 * Gives random ids to anomalies of the user that a rule has found. Their ids are hashes with the user's id in them: somebody who guesses
 * it could tell that the guess is right. Returns how many there were in this batch.
 */
export async function forgetAnomalyIds(db: Database, { integrationId, pseudonym }: RunningErasure): Promise<number> {
  return (await db.transact((query) => query(FORGET, [integrationId, pseudonym]), { isLong: true })).length;
}

// The ids of rules have 26 characters (server/findings/judge.ts), the random ones 36. What an AgentTakeover is one of is its session:
// under another id it would be found again.
const FORGET = `
  with named as materialized (
    select id, 'ano_' || replace(gen_random_uuid()::text, '-', '') as random from anomalies
     where integration_id = $1 and user_id = $2 and type <> 'AgentTakeover' and id like 'ano\\_%' and length(id) = 26
     order by id limit ${ROWS_PER_BATCH} for update),
  told as (
    update domain_events e set natural_key = named.random from named
     where e.integration_id = $1 and e.type = 'SessionAnomaly' and e.natural_key = named.id)
  update anomalies a set id = named.random from named where a.integration_id = $1 and a.id = named.id
  returning 1`;
