import { z } from 'zod';

// Why staff judged a session so. No route of the public API shows it.

/** The reasons that a reviewer can choose. Anything else goes into the notes. */
export const VERDICT_REASONS = [
  ...(['AutomatedInput', 'AutomationTool', 'NoHumanMovement', 'TooFast', 'PastedAnswers', 'AgentDeclared'] as const),
  ...(['HumanMovement', 'AssistiveTechnology', 'KnownPerson', 'SharedDevice', 'TestTraffic', 'Unclear'] as const),
] as const;
export const verdictReasonSchema = z.enum(VERDICT_REASONS);
export type VerdictReason = z.infer<typeof verdictReasonSchema>;

/** Reasons of a reviewer, each once, in the order of the list. */
export const verdictReasonsInput = z
  .array(verdictReasonSchema)
  .max(VERDICT_REASONS.length)
  .transform((given) => VERDICT_REASONS.filter((reason) => given.includes(reason)));
