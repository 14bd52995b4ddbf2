import { type Desk, defineControl } from '../people/control';

// Somebody who has the developer tools open next to the page, as students of computer science do.

const OPEN_LIMIT_MS = 15_000;

async function openTools({ person, visit: { geometry } }: Desk): Promise<void> {
  const before = (await geometry.waitFor(() => true)).window;
  await person.tap('F12');
  const isSmaller = ({ innerWidth, innerHeight }: typeof before) =>
    innerWidth < before.innerWidth - 100 || innerHeight < before.innerHeight - 100;
  await geometry.waitFor(({ window }) => isSmaller(window), OPEN_LIMIT_MS);
  await person.rest(1_000);
}

export const subjects = [
  defineControl({ name: 'developer-tools-chromium', family: 'developer-tools', prepare: openTools }),
  defineControl({ name: 'developer-tools-firefox', family: 'developer-tools', browser: 'firefox', prepare: openTools }),
];
