import { z } from 'zod';
import { idText, isStorableText, text, wireInstant } from './fields';
import { pageOf, pageQuery } from './pagination';

// How a text came about: counts and times, never what it says.

/** Where characters came from. Those of the first row are new text; the others were there before. */
export const NEW_TEXT = ['typed', 'composed', 'corrected', 'pasted', 'dropped', 'inserted', 'autofilled'] as const;
export const PROVENANCES = [...NEW_TEXT, 'moved', 'restored', 'unseen'] as const;
export type Provenance = (typeof PROVENANCES)[number];

export const MAX_WRITING_EVIDENCE_BYTES = 8 * 1024;
const MAX_REASONS = 20;

/** Minus zero is stored as zero: a fact that is sent again must equal what is stored. */
const number = () => z.number().transform((value) => value + 0);
const count = () => number().refine((value) => value >= 0, 'must be at least 0');

/** What was looked for, what was measured, what is usual, and how much it counts. */
const reasonSchema = z.object({
  name: text(1, 64),
  /** `notMeasured`: the text had too little for it, or nobody can tell. */
  state: z.enum(['found', 'notFound', 'notMeasured']),
  measured: number().nullable(),
  expected: text(0, 256).nullable(),
  weight: number(),
});
export type WritingReason = z.infer<typeof reasonSchema>;

/** Why a writing session has its score. */
export const writingEvidenceSchema = z
  .object({
    formulaVersion: text(1, 64),
    /** Those that count most first. */
    reasons: z.array(reasonSchema).max(MAX_REASONS),
    /** Characters by where they came from. */
    characters: z.object(Object.fromEntries(PROVENANCES.map((name) => [name, count()])) as Counts),
    /** The length of the text at the end, as far as it is known. */
    finalLength: count(),
    /** From the first to the last change, and without pauses. */
    durationMs: count(),
    activeMs: count(),
    charactersPerMinute: count().nullable(),
    pastes: z.object({ count: count(), longest: count() }),
    /** Pauses of 2 s and more, and where in the text they were. */
    pauses: z.object({
      ...{ count: count(), totalMs: count(), longestMs: count() },
      ...{ afterMark: count(), afterWord: count(), withinWord: count() },
    }),
    /** What was written between two pauses, in characters. */
    bursts: z.object({ count: count(), mean: count(), longest: count() }),
    /** Deletions in a row are one revision. */
    revisions: z.object({ count: count(), deletedCharacters: count() }),
    /** New characters that were written with text after them, of those of which that is known. */
    caret: z.object({ middle: count(), known: count() }),
  })
  .refine((evidence) => isStorableText(JSON.stringify(evidence)), 'holds what cannot be stored')
  .refine(
    (evidence) => new TextEncoder().encode(JSON.stringify(evidence)).length <= MAX_WRITING_EVIDENCE_BYTES,
    `must have at most ${MAX_WRITING_EVIDENCE_BYTES} bytes as JSON`,
  );
type Counts = Record<Provenance, ReturnType<typeof count>>;
export type WritingEvidence = z.infer<typeof writingEvidenceSchema>;

/** A writing session, for staff. No route of the public API shows it. */
export const writingSessionSchema = z.object({
  id: z.string(),
  /** The browsing session in which it was written; null if a customer's own tool wrote the fact. */
  browsingSessionId: z.string().nullable(),
  userId: z.string().nullable(),
  documentId: z.string().nullable(),
  aiScore: z.number(),
  scoredAt: wireInstant(),
  wordCount: z.number().nullable(),
  evidence: writingEvidenceSchema.nullable(),
});
export type WritingSession = z.infer<typeof writingSessionSchema>;
export const writingSessionPageSchema = pageOf(writingSessionSchema);

export const listWritingSessionsInput = z.object({
  browsingSessionId: idText().optional(),
  userId: idText().optional(),
  ...pageQuery,
});
export type ListWritingSessionsInput = z.infer<typeof listWritingSessionsInput>;
