import type { Finding } from '../../../../../contract/evidence';
import type { SessionDetails } from '../../../../../contract/session-events';
import { showDuration } from '../../../components/time';
import type { RuleFacts, Scoring } from './score-sum';

type Input = 'mouse' | 'keyboard' | 'field' | 'scroll' | 'any';

/** What a visitor must do before a rule can measure anything. Other rules read what the page tells of the browser. */
const INPUTS = new Map<string, Input>(
  Object.entries({
    'zero-pressure': 'mouse',
    'fractional-coordinates': 'mouse',
    'movement-mismatch': 'mouse',
    'no-approach': 'mouse',
    'exact-centre': 'mouse',
    'instant-press': 'mouse',
    'uncoalesced-moves': 'mouse',
    'act-think': 'mouse',
    'capital-without-shift': 'keyboard',
    'instant-keys': 'keyboard',
    'uniform-typing': 'keyboard',
    'text-without-keys': 'field',
    'focus-without-cause': 'field',
    'page-jumps': 'scroll',
    'untrusted-events': 'any',
    'replayed-trace': 'any',
    'off-grid-times': 'any',
  }),
);

/** Below this time little can be measured. */
const SHORT_SECONDS = 30;

export interface Circumstances {
  /** Undefined while they load. */
  details: Pick<SessionDetails, 'eventCounts' | 'durationSeconds'> | undefined;
  isLive: boolean;
}

/** Says why a rule measured nothing in a session, as far as that is known. */
export function explainUnmeasured(flag: string, needs: string | undefined, circumstances: Circumstances): string {
  const reason = findReason(flag, circumstances);
  return [reason, needs && `It needs ${needs}.`].filter(Boolean).join(' ');
}

function findReason(flag: string, { details, isLive }: Circumstances): string {
  if (flag === 'replayed-trace' && isLive) return 'It is looked up when the session closes.';
  if (flag === 'datacenter-network') return 'The network of the visitor is not known.';
  const input = INPUTS.get(flag);
  if (!details || input === undefined) return 'It does not apply to this browser, or too little was told.';
  const { eventCounts, durationSeconds } = details;
  if (input === 'mouse' && eventCounts.mouse === 0) return 'No mouse was used.';
  if (input === 'keyboard' && eventCounts.keyboard === 0) return 'Nothing was typed.';
  if (input === 'field' && eventCounts.form === 0) return 'No field was used.';
  if (input === 'scroll' && eventCounts.scroll === 0) return 'Nothing was scrolled.';
  if (!isLive && durationSeconds < SHORT_SECONDS)
    return `The session closed after ${showDuration(durationSeconds * 1000)}, before there was enough.`;
  return isLive ? 'There is not enough yet.' : 'There was not enough, or it does not apply to this browser.';
}

/**
 * Adds the rules of today's rule set of which a score says nothing, as not measured, with the reason why. Those of another
 * rule set or of a pipeline need not exist there.
 */
export function addMissingRules(
  findings: readonly Finding[],
  ruleSetVersion: string | null,
  { rules, ruleSetVersion: today }: Pick<Scoring, 'rules' | 'ruleSetVersion'>,
): { finding: Finding; why: string | null }[] {
  const known = new Set(findings.map(({ flag }) => findRuleFlag(flag)));
  const why =
    ruleSetVersion === null
      ? 'The facts came from a pipeline, which sent nothing for this rule.'
      : ruleSetVersion === today
        ? 'The score says nothing about this rule.'
        : `The score is of rules ${ruleSetVersion}, which say nothing about this rule.`;
  return [
    ...findings.map((finding) => ({ finding, why: null })),
    ...rules.filter(({ flag }) => !known.has(flag)).map((rule) => ({ finding: showMissing(rule), why })),
  ];
}

const showMissing = ({ flag, group, expected }: RuleFacts): Finding => ({
  ...{ flag, group, state: 'notMeasured', measured: null, expected, weight: 0, moments: [] },
});

/** The rule of a flag: what follows a colon is a name. */
export const findRuleFlag = (flag: string) => flag.split(':')[0]!;
