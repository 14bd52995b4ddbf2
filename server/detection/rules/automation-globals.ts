import { AUTOMATION_MARKS } from '../../../contract/beacon';
import { findAgentName } from './agents';
import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees names that automation leaves in a page, such as `cdc_…` of ChromeDriver or `__playwright…`. Needs an environment,
 * which shows that the page was searched, or a mark. Exempts marks that a page can leave itself: names that begin with
 * `__pw` are also those of progressive web applications.
 * Reference: AUTOMATION_MARKS in contract/beacon.ts.
 */
export const automationGlobalsRule: Rule = {
  ...{ flag: 'automation-globals', group: 'environment', expected: 'none' },
  judge({ environments, marks }) {
    const found = marks.filter(({ thing }) => isGlobal(thing));
    if (found.length === 0) return environments.length === 0 ? NOT_MEASURED : decide(false, 'none', []);
    const names = new Set(found.map(({ thing }) => AUTOMATION_MARKS[thing]![1]));
    return decide(true, [...names].sort().join(', ').slice(0, MAX_NAMES_LENGTH), listMoments(found));
  },
};

const MAX_NAMES_LENGTH = 120;
/** Marks that are no proof. */
const AMBIGUOUS: ReadonlySet<string> = new Set(['__pw*']);

function isGlobal(mark: number): boolean {
  const name = AUTOMATION_MARKS[mark]?.[1];
  return name !== undefined && !AMBIGUOUS.has(name) && findAgentName(mark) === null;
}
