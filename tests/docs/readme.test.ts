import { afterAll, beforeAll } from 'vitest';
import { requireChromium } from '../support/browser.mjs';
import { followDocument } from '../support/followed-document';
import { findFreePort } from '../support/ports';
import { endProducts, makeDataDir } from '../support/product';
import { openReader, type Reader } from '../support/reader';

// Somebody with a fresh clone follows the README and the page about regions in the repository.

let reader: Reader;

beforeAll(async () => {
  const port = await findFreePort();
  reader = openReader({
    workingDirectory: process.cwd(),
    ports: { 3000: port },
    // The agent of the demo needs a Chromium, and the reader has another home.
    variables: { DATA_DIR: await makeDataDir(), PORT: String(port), CHROMIUM_PATH: requireChromium() },
  });
});
afterAll(async () => {
  await reader.leave();
  await endProducts();
});

followDocument('README.md', () => reader);
followDocument('docs/regions.md', () => reader);
