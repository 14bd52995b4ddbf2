import { PEOPLE_GROUPS, type PeopleGroup } from './rules/people';
import { RULES } from './rules/table';

/** The log odds of a session in which nothing is found: a score of 0.029. */
export const SCORE_BASE = -3.5;
/** What further findings of a group count, because they often have the same cause. */
const SUPPORT = 0.25;
/**
 * The score that a session without proof cannot pass on one group of rules, on too little to judge, or on what one group of
 * people can explain: below `bot`, 70 by default.
 */
export const MAX_UNPROVEN_SCORE = 0.69;
const MAX_UNPROVEN = Math.log(MAX_UNPROVEN_SCORE / (1 - MAX_UNPROVEN_SCORE));

const PEOPLE = Object.keys(PEOPLE_GROUPS) as PeopleGroup[];

/** The log odds that follow from what the rules have found. MAX_UNPROVEN_SCORE says what they cannot pass. */
export function computeLogOdds(isFound: readonly boolean[], isThin: boolean): number {
  const counted = countFound(isFound);
  const logOdds = counted.reduce((sum, weight) => sum + weight, SCORE_BASE);
  const found = RULES.filter((_, index) => counted[index]! > 0);
  const isProven = found.some(({ isProof }) => isProof);
  // Many people share a network, so it supports other findings but confirms none.
  const telling = found.filter(({ rule }) => rule.group !== 'network');
  const isBroad = new Set(telling.map(({ rule }) => rule.group)).size > 1;
  const isOfPeople = PEOPLE.some((group) => telling.every(({ rule }) => group in rule.touches));
  return isProven || (isBroad && !isThin && !isOfPeople) ? logOdds : Math.min(logOdds, MAX_UNPROVEN);
}

/** What each rule adds: its weight if it is the strongest found of its group, else a part of it. */
export function countFound(isFound: readonly boolean[]): number[] {
  const strongest = new Map<string, number>();
  for (const [index, { rule, weight }] of RULES.entries()) {
    const best = strongest.get(rule.group);
    if (isFound[index] && (best === undefined || weight > RULES[best]!.weight)) strongest.set(rule.group, index);
  }
  return RULES.map(({ rule, weight }, index) => {
    if (!isFound[index]) return 0;
    return strongest.get(rule.group) === index ? weight : weight * SUPPORT;
  });
}
