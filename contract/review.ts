import { z } from 'zod';
import { sessionEvidenceSchema } from './evidence';
import { idText, instantText, timeZoneName, wireInstant, word } from './fields';
import { staffSessionDetailsSchema } from './session-events';
import { sessionSchema, setVerdictInput, setVerdictSchema, undoVerdictInput, VERDICTS } from './sessions';

// The review page: which sessions need a verdict, and labels on several at once. For staff; no route of the public API shows it.

/** `score`: what the score accuses, highest first. `sample`: what was drawn at random, whose score is hidden until the verdict. */
export const REVIEW_QUEUES = ['score', 'sample'] as const;
export type ReviewQueueKind = (typeof REVIEW_QUEUES)[number];

/** When the sessions of the queue `score` began: since midnight of a time zone, or within so many hours. */
export const REVIEW_WINDOWS = ['today', '24h', '7d'] as const;
export type ReviewWindow = (typeof REVIEW_WINDOWS)[number];

/** The lowest score, in hundredths, with which a session is queued, however low the medium cut point is. The index ends there. */
export const LOWEST_QUEUED_BIN = 20;
/** The most sessions of one queue. */
export const MAX_QUEUED = 1_000;
/** The sample queue has the draws of so many days. */
export const SAMPLE_DAYS = 30;
/** The most cases that are read at once. */
export const MAX_CASES = 10;
/** The most sessions that are labelled at once. */
export const MAX_BULK = 200;
/**
 * The most labels that `listVerdicts` answers. A page asks again for those of the last 30 s, in which a key at its limit
 * labels 3,000 sessions: a lower bound would return the same ones for ever.
 */
export const MAX_TOLD_VERDICTS = 10_000;

export const listQueueInput = z.object({
  queue: word(REVIEW_QUEUES).default('score'),
  window: word(REVIEW_WINDOWS).default('24h'),
  /** Whose midnight `today` means. */
  timeZone: timeZoneName().default('UTC'),
});
export type ListQueueInput = z.infer<typeof listQueueInput>;

/** A queue as it was when it was read. */
export const reviewQueueSchema = z.object({
  queue: z.enum(REVIEW_QUEUES),
  window: z.enum(REVIEW_WINDOWS),
  openedAt: wireInstant(),
  /** How many sessions wait in all. */
  total: z.number(),
  /** The first of them, in the order of the queue. `score` is in hundredths; null where it is hidden. */
  sessions: z.array(z.object({ id: z.string(), score: z.number().nullable() })),
});
export type ReviewQueue = z.infer<typeof reviewQueueSchema>;

export const listCasesInput = z.object({ sessionIds: z.array(idText()).min(1).max(MAX_CASES) });

/** What a reviewer sees of a session. With `isBlind`, score, class, flags and evidence are left out. */
export const reviewCaseSchema = z.object({
  session: sessionSchema,
  details: staffSessionDetailsSchema,
  evidence: sessionEvidenceSchema.nullable(),
  isBlind: z.boolean(),
});
export type ReviewCase = z.infer<typeof reviewCaseSchema>;

export const listVerdictsInput = z.object({ since: instantText() });

/** The latest verdict on each session that was labelled, or whose label was removed (null), since a time. `isOwn`: by who asks. */
export const toldVerdictsSchema = z.array(
  z.object({
    sessionId: z.string(),
    verdict: z.enum(VERDICTS).nullable(),
    decidedAt: wireInstant(),
    isOwn: z.boolean(),
  }),
);

/** One verdict on several sessions. `seenLabeledAt` is that of `setVerdictInput`, for each of them. */
export const setVerdictsInput = z.object({
  ...setVerdictInput.omit({ sessionId: true, seenLabeledAt: true }).shape,
  sessions: z
    .array(setVerdictInput.pick({ sessionId: true, seenLabeledAt: true }))
    .min(1)
    .max(MAX_BULK),
});
export type SetVerdictsInput = z.infer<typeof setVerdictsInput>;

const failed = z.array(z.object({ sessionId: z.string(), message: z.string() }));

export const setVerdictsSchema = z.object({ labeled: z.array(setVerdictSchema), failed });
export type SetVerdicts = z.infer<typeof setVerdictsSchema>;

export const undoVerdictsInput = z.object({ verdicts: z.array(undoVerdictInput).min(1).max(MAX_BULK) });
export type UndoVerdictsInput = z.infer<typeof undoVerdictsInput>;

export const undoVerdictsSchema = z.object({ undone: z.array(z.string()), failed });
export type UndoVerdicts = z.infer<typeof undoVerdictsSchema>;
