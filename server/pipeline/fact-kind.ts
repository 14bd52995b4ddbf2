import type { z } from 'zod';
import type { BatchDraft, FactResult } from './draft';
import type { NamedKeys } from './named-keys';
import type { RecordKind } from './records';

type FactSchema = z.ZodObject<{ kind: z.ZodLiteral<string> }>;

/** All that the pipeline needs to know of a kind of fact. */
export interface FactKind<Schema extends FactSchema = FactSchema> {
  /** The fact as it comes through the door. */
  schema: Schema;
  /** What is written of each such fact, where that is a record. */
  records?: RecordKind;
  /** Names what must have been read when the fact is applied. */
  nameKeys(fact: z.output<Schema>, keys: NamedKeys): void;
  /** Applies a fact to the draft of its batch; throws a FactRefusal. */
  apply(fact: z.output<Schema>, draft: BatchDraft): FactResult;
}

/** Defines a kind of fact. */
export const defineFact = <Schema extends FactSchema>(kind: FactKind<Schema>): FactKind<Schema> => kind;
