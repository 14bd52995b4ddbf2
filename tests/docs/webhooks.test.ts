import { afterAll, beforeAll } from 'vitest';
import { createDemoSettings } from '../support/database';
import { followDocument } from '../support/followed-document';
import { findFreePort } from '../support/ports';
import { endProducts, makeDataDir, readScreen, startProduct } from '../support/product';
import { openReader, type Reader } from '../support/reader';

// A customer follows the guide with a receiver on this machine.

let reader: Reader;

beforeAll(async () => {
  const port = await findFreePort();
  const product = await startProduct(await makeDataDir(), {
    ...(await createDemoSettings()),
    WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${port}`,
  });
  const { demoKey } = readScreen(product);
  reader = openReader({ ports: { 9000: port }, variables: { BASE: product.url, KEY: demoKey } });
});
afterAll(async () => {
  await reader.leave();
  await endProducts();
});

followDocument('docs/webhooks.md', () => reader);
