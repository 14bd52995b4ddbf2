import { findAgentName } from './agents';
import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

export const declaredAgentRule: Rule = {
  ...{ flag: 'declared-agent', group: 'environment', expected: 'none' },
  sees:
    'The marks that known agents put into a page to show that they act in it, and requests that an agent signed ' +
    '(Web Bot Auth). An agent that is installed but idle leaves no mark. A page could forge a mark, but only ' +
    'against its own visitors; nobody can forge a signature.',
  needs: 'an environment, which shows that the page was searched, a mark, or a signed request',
  plainly:
    'An AI agent shows that it acts here: by marks in the page, or by a signature that only it can make. The ' +
    'flag names it.',
  exempts: {},
  touches: {},
  reference:
    'elements that the browser extensions of these agents add; RFC 9421; draft-ietf-webbotauth-httpsig-protocol',
  judge({ environments, marks, agents }) {
    const named = [
      ...agents,
      ...marks.flatMap(({ thing, momentsMs }) => {
        const name = findAgentName(thing);
        return name === null ? [] : [{ thing: name, momentsMs }];
      }),
    ];
    if (named.length === 0) return environments.length === 0 ? NOT_MEASURED : decide(false, 'none', []);
    // A signature says more than a mark.
    const [name] = (agents.length > 0 ? agents : named).map(({ thing }) => thing).sort();
    return { ...decide(true, name!, listMoments(named)), name: name! };
  },
};
