import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

/**
 * Sees `navigator.webdriver`, which the WebDriver standard demands of a browser under remote control, and a getter of it
 * that is not the browser's. Only the first is proof, so only the first is found. Needs an environment. Exempts nobody:
 * people's browsers do not set it.
 * Reference: W3C WebDriver, section 4, NavigatorAutomationInformation.
 */
export const webdriverRule: Rule = {
  ...{ flag: 'webdriver', group: 'environment', expected: 'false' },
  judge({ environments }) {
    if (environments.length === 0) return NOT_MEASURED;
    const controlled = environments.filter(({ thing }) => thing.w === 1);
    const isFound = controlled.length > 0;
    return decide(isFound, String(isFound), listMoments(controlled));
  },
};
