import type { HistoryStep, SessionHistory } from '../../../../contract/session-history';
import { showScore } from '../../components/score-bar';
import { listReasons } from './verdict-words';

// Says why a session had its class, in sentences. Scores are those of the dashboard, 0 to 100.

/** Names who set a label. */
const nameLabeler = (labeledBy: HistoryStep['labeledBy']) =>
  labeledBy?.name ?? (labeledBy?.kind === 'Operator' ? 'the command line' : 'somebody');

const after = (reasons: HistoryStep['reasons']) => (reasons.length > 0 ? `: ${listReasons(reasons)}` : '');

/** What happened in a step. `before` is the step before it. */
export function describeStep(step: HistoryStep, before: HistoryStep | undefined): string {
  const { cause, verdict, botScore, confidence, reasons, mediumAt, botAt } = step;
  const who = nameLabeler(step.labeledBy);
  const sure = confidence === null ? '' : `, ${confidence} confidence`;
  switch (cause) {
    case 'Began':
      return 'The session began.';
    case 'Scored':
      return `Scored ${botScore === null ? '' : showScore(botScore)} of 100.`;
    case 'ThresholdsChanged':
      return `The thresholds changed: medium from ${mediumAt}, bot from ${botAt}.`;
    case 'LabelRemoved':
      return `${who} removed the label.`;
    case 'LabelUndone':
      return verdict === null ? `${who} undid the label.` : `${who} undid the label: ${verdict} again.`;
    case 'Labeled': {
      const isCompleted = before?.cause === 'Labeled' && before.verdict === verdict && before.labeledBy?.name === who;
      return isCompleted
        ? `${who} said why${sure}${after(reasons)}.`
        : `${who} labelled it ${verdict}${sure}${after(reasons)}.`;
    }
  }
}

/** Why a session had a class at a time. */
export interface Answer {
  riskLevel: HistoryStep['riskLevel'];
  because: string;
  /** The step that holds at that time. Null before the first one. */
  step: HistoryStep | null;
}

/** Says why the session had its class at a time. `showTime` prints the time of a label. */
export function explainClass(
  { steps, isComplete }: SessionHistory,
  at: string,
  showTime: (iso: string) => string,
): Answer {
  const shown = steps.filter((step) => Date.parse(step.at) <= Date.parse(at));
  const step = shown.at(-1);
  if (!step) {
    const because = isComplete ? 'The session had not begun.' : 'That is older than the steps that are kept here.';
    return { riskLevel: null, because, step: null };
  }
  const { riskLevel, verdict, botScore, mediumAt, botAt } = step;
  const score = botScore === null ? null : showScore(botScore);
  if (verdict !== null) {
    const label = shown.findLast(({ labeledBy }) => labeledBy !== null);
    const scored = score === null ? 'It had no score.' : `Its score was ${score} of 100.`;
    if (!label) return { riskLevel, because: `It was labelled ${verdict}. ${scored}`, step };
    const who = nameLabeler(label.labeledBy);
    const because = `${who} labelled it ${verdict} on ${showTime(label.at)}${after(label.reasons)}. ${scored}`;
    return { riskLevel, because, step };
  }
  if (score === null) return { riskLevel, because: 'It had no score and no label.', step };
  const bounds = {
    bot: `and bot began at ${botAt}`,
    medium: `medium began at ${mediumAt} and bot at ${botAt}`,
    human: `and medium began at ${mediumAt}`,
  };
  return { riskLevel, because: `Its score was ${score} of 100, ${bounds[riskLevel ?? 'human']}.`, step };
}
