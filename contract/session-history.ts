import { z } from 'zod';
import { ACTOR_KINDS } from './audit';
import { wireInstant } from './fields';
import { CONFIDENCES, RISK_LEVELS, VERDICTS } from './sessions';
import { verdictReasonSchema } from './verdicts';

// Why a session had its class at a time. For staff; no route of the public API shows it.

/** The most steps of a history that are answered, the newest. */
export const MAX_HISTORY_STEPS = 200;

/** What can change the class of a session. */
export const HISTORY_CAUSES = [
  ...(['Began', 'Scored', 'ThresholdsChanged', 'Labeled', 'LabelUndone', 'LabelRemoved'] as const),
] as const;

/** From this time on, the session had this class. The fields say what decided, as it was then. */
export const historyStepSchema = z.object({
  at: wireInstant(),
  cause: z.enum(HISTORY_CAUSES),
  riskLevel: z.enum(RISK_LEVELS).nullable().describe('Null before scoring.'),
  verdict: z.enum(VERDICTS).nullable().describe('Of the label that the session had from then on.'),
  confidence: z.enum(CONFIDENCES).nullable(),
  reasons: z.array(verdictReasonSchema),
  notes: z.string().nullable(),
  labeledBy: z
    .object({ kind: z.enum(ACTOR_KINDS), name: z.string().nullable() })
    .nullable()
    .describe('Who set or removed the label; null for other causes.'),
  botScore: z.number().nullable().describe('0 to 1.'),
  ruleSetVersion: z.string().nullable(),
  mediumAt: z.number().describe('The risk thresholds of that time, 0 to 100.'),
  botAt: z.number(),
});
export type HistoryStep = z.infer<typeof historyStepSchema>;

export const sessionHistorySchema = z.object({
  steps: z.array(historyStepSchema).describe('Oldest first.'),
  isComplete: z.boolean().describe('Whether the first step is the beginning of the session.'),
});
export type SessionHistory = z.infer<typeof sessionHistorySchema>;
