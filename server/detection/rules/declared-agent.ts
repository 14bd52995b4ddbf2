import { findAgentName } from './agents';
import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees the marks that known agents put into a page to show that they act in it. Needs an environment, which shows that
 * the page was searched, or a mark. Exempts a browser whose agent is installed but does not act: it leaves no mark.
 * A page could forge such a mark, but only against its own visitors. Signed requests (Web Bot Auth) are not judged yet.
 * Reference: the elements that the browser extensions of these agents add, as seen in their releases.
 */
export const declaredAgentRule: Rule = {
  ...{ flag: 'declared-agent', group: 'environment', expected: 'none' },
  judge({ environments, marks }) {
    const found = marks.filter(({ thing }) => findAgentName(thing) !== null);
    if (found.length === 0) return environments.length === 0 ? NOT_MEASURED : decide(false, 'none', []);
    const name = found.map(({ thing }) => findAgentName(thing)!).sort()[0]!;
    return { ...decide(true, name, listMoments(found)), name };
  },
};
