import type { z } from 'zod';
import type { BatchDraft, FactResult } from './draft';
import type { NamedKeys } from './named-keys';
import type { RecordKind } from './records';

type FactSchema = z.ZodObject<{ kind: z.ZodLiteral<string> }>;

/** Everything that the pipeline needs to know about a kind of fact. */
export interface FactKind<Schema extends FactSchema = FactSchema> {
  /** The fact as the pipeline sends it. */
  schema: Schema;
  /** The kind of records that these facts become, if they become records. */
  records?: RecordKind;
  /** Lists the ids of users that the fact is about, and texts that may be such ids. */
  listUsers?(fact: z.output<Schema>): string[];
  /** Names the sessions and records that must be read before the fact is applied. */
  nameKeys(fact: z.output<Schema>, keys: NamedKeys): void;
  /** Applies a fact to the draft of its batch. Throws a FactRefusal if it cannot be applied. */
  apply(fact: z.output<Schema>, draft: BatchDraft): FactResult;
}

/** Defines a kind of fact. */
export const defineFact = <Schema extends FactSchema>(kind: FactKind<Schema>): FactKind<Schema> => kind;
