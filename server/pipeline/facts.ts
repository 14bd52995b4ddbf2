import { z } from 'zod';
import { alertFiredFact } from './alert-fired';
import { anomalyDetectedFact } from './anomaly-detected';
import { factId } from './fact-fields';
import type { FactKind } from './fact-kind';
import { reportReadyFact } from './report-ready';
import { sessionClosedFact } from './session-closed';
import { sessionCorrelatedFact } from './session-correlated';
import { sessionEventsFact } from './session-events';
import { sessionFailedFact } from './session-failed';
import { sessionScoredFact } from './session-scored';
import { sessionStartedFact } from './session-started';
import { writingScoredFact } from './writing-scored';

/** The kinds of facts that the pipeline sends. */
const FACT_KINDS = [
  sessionStartedFact,
  sessionEventsFact,
  sessionClosedFact,
  sessionScoredFact,
  sessionFailedFact,
  sessionCorrelatedFact,
  anomalyDetectedFact,
  writingScoredFact,
  reportReadyFact,
  alertFiredFact,
] as const;
type SchemasOf<Kinds extends readonly FactKind[]> = { [Index in keyof Kinds]: Kinds[Index]['schema'] };

export const factSchema = z.discriminatedUnion(
  'kind',
  FACT_KINDS.map(({ schema }) => schema) as unknown as SchemasOf<typeof FACT_KINDS>,
);
export type Fact = z.output<typeof factSchema>;

/** The kinds of records that facts become. */
export const RECORD_KINDS = (FACT_KINDS as readonly FactKind[]).flatMap(({ records }) => records ?? []);

const KIND_BY_NAME = new Map<string, FactKind>(FACT_KINDS.map((kind) => [kind.schema.shape.kind.value, kind]));

/** Finds the kind of a fact. */
export const findFactKind = ({ kind }: Fact): FactKind => KIND_BY_NAME.get(kind)!;

export const MAX_FACTS = 500;

export const ingestInput = z.object({
  integrationId: factId(),
  facts: z.array(factSchema).min(1).max(MAX_FACTS),
});
export type IngestInput = z.output<typeof ingestInput> & {
  /**
   * The product itself found the facts. Those about erased users are left out, and the others are not refused with them. Their times may
   * be ahead, and one that is found again with other content is no conflict.
   */
  isOurs?: boolean;
  /** The rules on findings have judged the sessions, and do not judge them again. */
  isOfPast?: boolean;
};

export const ingestOutput = z.object({ accepted: z.number(), duplicates: z.number(), suppressed: z.number() });
export type IngestAnswer = z.output<typeof ingestOutput>;
