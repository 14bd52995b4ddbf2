import type { Confidence, Verdict } from '../../../../contract/sessions';
import type { VerdictReason } from '../../../../contract/verdicts';

/** Each reason in words. They say what the reviewer saw, not what the visitor did wrong. */
export const REASON_WORDS: Record<VerdictReason, string> = {
  AutomatedInput: 'Automated input',
  AutomationTool: 'Automation tool',
  NoHumanMovement: 'No human movement',
  TooFast: 'Too fast',
  PastedAnswers: 'Pasted text',
  AgentDeclared: 'Agent says so',
  HumanMovement: 'Human movement',
  AssistiveTechnology: 'Assistive technology',
  KnownPerson: 'Known person',
  SharedDevice: 'Shared device',
  TestTraffic: 'Test traffic',
  Unclear: 'Unclear',
};

/** The reasons that are offered for a verdict, in the order of their number keys. */
export const REASONS: Record<Verdict, readonly VerdictReason[]> = {
  bot: [
    ...(['AutomatedInput', 'AutomationTool', 'NoHumanMovement', 'TooFast'] as const),
    ...(['PastedAnswers', 'AgentDeclared', 'TestTraffic', 'Unclear'] as const),
  ],
  human: [
    ...(['HumanMovement', 'AssistiveTechnology', 'KnownPerson'] as const),
    ...(['SharedDevice', 'TestTraffic', 'Unclear'] as const),
  ],
};

export const CONFIDENCE_WORDS: Record<Confidence, string> = { high: 'High', medium: 'Medium', low: 'Low' };

/** Lists reasons in a sentence: `automated input, too fast`. */
export const listReasons = (reasons: readonly VerdictReason[]) =>
  reasons.map((reason) => REASON_WORDS[reason].toLowerCase()).join(', ');
