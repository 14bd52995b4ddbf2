import { decide, listMoments, NOT_MEASURED, type Rule } from './rule';

export const webdriverRule: Rule = {
  ...{ flag: 'webdriver', group: 'environment', expected: 'false' },
  sees: '`navigator.webdriver`, which the WebDriver standard demands of a browser under remote control.',
  needs: 'an environment',
  plainly: 'The browser itself says that a program controls it. The web standard demands that of controlled browsers.',
  exempts: {},
  touches: {},
  reference: 'W3C WebDriver, NavigatorAutomationInformation',
  judge({ environments }) {
    if (environments.length === 0) return NOT_MEASURED;
    const controlled = environments.filter(({ thing }) => thing.w === 1);
    const isFound = controlled.length > 0;
    return decide(isFound, String(isFound), listMoments(controlled));
  },
};
