import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { ingestInput } from '../../server/pipeline/facts';

/** The input of the pipeline's endpoint as JSON Schema. */
export const INGEST_SCHEMA = z.toJSONSchema(ingestInput, { io: 'input', unrepresentable: 'any' });

const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(INGEST_SCHEMA);

/**
 * The schema's judgement of a batch: refused as a whole, refused because of the fact with this index, or left to the
 * rules.
 */
export interface BatchJudgement {
  verdict: 'refused' | 'refused for a fact' | 'fine';
  /** The first fact that is invalid without regard to others. */
  factIndex: number;
  integrationId: unknown;
  factCount: number;
}

/** Judges the bytes of a batch by the schema. */
export function judgeBatch(bytes: Uint8Array): BatchJudgement {
  let batch: { integrationId?: unknown; facts?: unknown } | null;
  try {
    batch = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    batch = null;
  }
  const factCount = Array.isArray(batch?.facts) ? batch.facts.length : 0;
  const named = { integrationId: batch?.integrationId, factCount, factIndex: -1 };
  if (validate(inLowerCase(batch))) return { ...named, verdict: 'fine' };
  const indices = (validate.errors ?? []).map(({ instancePath }) => /^\/facts\/(\d+)/.exec(instancePath)?.[1]);
  if (indices.includes(undefined)) return { ...named, verdict: 'refused' };
  return { ...named, verdict: 'refused for a fact', factIndex: Math.min(...indices.map(Number)) };
}

/** Lower-cases severities, which are accepted in any case. */
function inLowerCase(batch: unknown): unknown {
  const facts = (batch as { facts?: unknown } | null)?.facts;
  if (!Array.isArray(facts)) return batch;
  const lower = (fact: { severity?: unknown } | null) =>
    typeof fact?.severity === 'string' ? { ...fact, severity: fact.severity.toLowerCase() } : fact;
  return { ...(batch as object), facts: facts.map(lower) };
}
