import { afterAll, beforeAll } from 'vitest';
import { type CopiedClients, copyClients } from '../clients/copied-clients';
import { createDemoSettings } from '../support/database';
import { followDocument } from '../support/followed-document';
import { findFreePort } from '../support/ports';
import { endProducts, makeDataDir, readScreen, startProduct } from '../support/product';
import { openReader, type Reader } from '../support/reader';

// A customer follows the quickstart in an empty directory, against the product with its demo data, and then the guide about
// webhooks in another one, with a receiver on this machine.

let clients: CopiedClients;
let reader: Reader;
let receivingReader: Reader;

beforeAll(async () => {
  const port = await findFreePort();
  const allowed = { WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${port}` };
  const product = await startProduct(await makeDataDir(), { ...(await createDemoSettings()), ...allowed });
  clients = await copyClients();
  const variables = { BASE: product.url, KEY: readScreen(product).demoKey };
  reader = openReader({ ports: {}, variables: { ...variables, CLIENTS: clients.folder } });
  receivingReader = openReader({ ports: { 9000: port }, variables });
});
afterAll(async () => {
  await reader.leave();
  await receivingReader.leave();
  await clients.remove();
  await endProducts();
});

followDocument('docs/quickstart.md', () => reader);
followDocument('docs/webhooks.md', () => receivingReader);
