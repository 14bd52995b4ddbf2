import { chromium } from 'playwright-core';
import { launchOptions, requireHeadlessShell } from '../support/browser.mjs';
import { prepareBrowser, preparePixelHost } from '../support/pixel-host';
import { registerEventRules } from './pixel/events';
import { registerLmsRules } from './pixel/lms';
import { registerPageRules } from './pixel/page';
import { registerPasswordRules } from './pixel/passwords';
import { registerSendingRules } from './pixel/sending';
import { registerSessionRules } from './pixel/sessions';
import { registerWritingRules } from './pixel/writing';

// What the pixel does in Chromium. All of its rules share one browser; each test has a separate context. None needs a window, which
// takes half of the CPU time; pixel-browsers.test.ts has the Chromium with windows.

const host = preparePixelHost();
const browser = prepareBrowser(() => chromium.launch({ ...launchOptions(), executablePath: requireHeadlessShell() }));

for (const register of [
  ...[registerEventRules, registerPageRules, registerSendingRules, registerSessionRules],
  ...[registerLmsRules, registerWritingRules, registerPasswordRules],
])
  register(host, browser);
