import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type LaunchOptions } from 'playwright-core';
import { expect, it } from 'vitest';
import { launchOptions } from '../support/browser.mjs';

/** Lists the features that a launch turns off, by a program that notes its arguments and ends. */
async function listFeaturesOff(options: LaunchOptions): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'switches-'));
  const [executablePath, noted] = [join(directory, 'chromium'), join(directory, 'noted')];
  writeFileSync(executablePath, `#!/bin/sh\nprintf '%s\\n' "$@" > '${noted}'\n`, { mode: 0o755 });
  try {
    await expect(chromium.launch({ ...options, executablePath })).rejects.toThrow();
    const switches = readFileSync(noted, 'utf8').split('\n');
    return switches
      .findLast((each) => each.startsWith('--disable-features='))!
      .replace(/^.*?=/, '')
      .split(',');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

it('the browsers of the tests turn off what Playwright turns off, and the hidden pages of the address bar', async () => {
  const [usual, ours] = [await listFeaturesOff({}), await listFeaturesOff(launchOptions())];
  expect(ours).toEqual(expect.arrayContaining(usual));
  expect(ours).toEqual(expect.arrayContaining(['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup']));
});
