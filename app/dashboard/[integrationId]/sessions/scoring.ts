import { MAX_UNPROVEN_SCORE, SCORE_BASE } from '../../../../server/detection/log-odds';
import { RULE_SET_VERSION, RULES } from '../../../../server/detection/rules/table';
import type { Scoring } from './[sessionId]/score-sum';

/** The words are Markdown for the documents. */
const plain = (words: string) => words.replaceAll('`', '');

/** Our rules in plain words, and how a score is made of them. Pages pass it to the browser, which is not sent the rules themselves. */
export const SCORING: Scoring = {
  ...{ ruleSetVersion: RULE_SET_VERSION, base: SCORE_BASE, maxUnprovenScore: MAX_UNPROVEN_SCORE },
  rules: RULES.map(({ rule: { flag, group, plainly, expected, needs }, isProof = false }) => ({
    ...{ flag, group, plainly: plain(plainly), expected: plain(expected), needs: plain(needs), isProof },
  })),
};
