import { afterAll, beforeAll } from 'vitest';
import { DOCUMENTS } from '../support/documents';
import { followDocument } from '../support/followed-document';
import { findFreePort } from '../support/ports';
import { endProducts, makeDataDir } from '../support/product';
import { openReader, type Reader } from '../support/reader';

// The README, and the page about regions where it is there, are followed in the repository by somebody who has just fetched it.

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

for (const document of ['README.md', 'docs/regions.md'].filter((path) => DOCUMENTS.includes(path))) {
  followDocument(document, () => reader);
}
