import { afterAll, beforeAll } from 'vitest';
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
    variables: { DATA_DIR: await makeDataDir(), PORT: String(port) },
  });
});
afterAll(async () => {
  await reader.leave();
  await endProducts();
});

followDocument('README.md', () => reader);
followDocument('docs/regions.md', () => reader);
