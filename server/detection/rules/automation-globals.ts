import { AUTOMATION_MARKS } from '../../../contract/beacon';
import { findAgentName } from './agents';
import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

export const automationGlobalsRule: Rule = {
  ...{ flag: 'automation-globals', group: 'environment', expected: 'none' },
  sees:
    'Names that automation leaves in a page, such as `cdc_…` of ChromeDriver or `__playwright…`. Retired marks do not ' +
    'count: pages and extensions leave them too, for example names that begin with `__pw`.',
  needs: 'an environment, which shows that the page was searched, or a mark',
  plainly: 'The page holds objects that only automation tools put there. Browsers of people have none.',
  exempts: {},
  touches: {},
  reference: '`AUTOMATION_MARKS` in `contract/beacon.ts`',
  judge({ environments, marks }) {
    const found = marks.filter(({ thing }) => isGlobal(thing));
    if (found.length === 0) return environments.length === 0 ? NOT_MEASURED : decide(false, 'none', []);
    const names = new Set(found.map(({ thing }) => AUTOMATION_MARKS[thing]![1]));
    return decide(true, [...names].sort().join(', ').slice(0, MAX_NAMES_LENGTH), listMoments(found));
  },
};

const MAX_NAMES_LENGTH = 120;
const isGlobal = (mark: number): boolean =>
  AUTOMATION_MARKS[mark] !== undefined && AUTOMATION_MARKS[mark][0] !== 'retired' && findAgentName(mark) === null;
