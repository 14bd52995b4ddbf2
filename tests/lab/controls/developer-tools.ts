import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import { type Desk, defineControl } from '../people/control';
import type { Screen } from '../screen';

// Somebody who has the developer tools open, next to the page or in another window, as students of computer science do.

async function openTools({ person, visit: { geometry } }: Desk): Promise<void> {
  const before = (await geometry.waitFor(() => true)).window;
  await person.tap('F12');
  const isSmaller = ({ innerWidth, innerHeight }: typeof before) =>
    innerWidth < before.innerWidth - 100 || innerHeight < before.innerHeight - 100;
  await geometry.waitFor(({ window }) => isSmaller(window), WAIT_LIMIT_MS);
  await person.rest(1_000);
}

/** Opens them in another window and comes back to the page. */
async function openToolsApart({ person, visit: { geometry } }: Desk): Promise<void> {
  await geometry.waitFor(() => true);
  await person.tap('F12');
  await geometry.waitFor(({ hasFocus }) => !hasFocus, WAIT_LIMIT_MS);
  await person.rest(2_500);
  await person.tap('Tab', 'Alt_L');
  await geometry.waitFor(({ hasFocus }) => hasFocus);
  await person.rest(800);
}

async function undockTools({ profile }: Screen): Promise<void> {
  mkdirSync(join(profile, 'Default'), { recursive: true });
  const preferences = { devtools: { preferences: { currentDockState: '"undocked"' } } };
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences));
}

const family = 'developer-tools';
export const subjects = [
  defineControl({ name: 'developer-tools-chromium', family, prepare: openTools }),
  defineControl({ name: 'developer-tools-firefox', family, browser: 'firefox', prepare: openTools }),
  defineControl({ name: 'developer-tools-apart', family, furnish: undockTools, prepare: openToolsApart }),
];
