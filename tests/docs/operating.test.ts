import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database';
import { followDocument } from '../support/followed-document';
import { findFreePort } from '../support/ports';
import { endProducts, makeDataDir } from '../support/product';
import { openReader, type Reader } from '../support/reader';

// An operator follows the guide in the repository, with a separate data directory.

const backups = mkdtempSync(join(tmpdir(), 'backups-'));
let source: TestDatabase;
let target: { url: string; drop(): Promise<void> };
let reader: Reader;

beforeAll(async () => {
  const [port, metricsPort] = [await findFreePort(), await findFreePort()];
  source = await createTestDatabase();
  target = await createEmptyDatabase();
  reader = openReader({
    workingDirectory: process.cwd(),
    ports: { 3000: port, 9464: metricsPort },
    variables: {
      DATA_DIR: await makeDataDir(),
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      BACKUP: backups,
      SOURCE_URL: source.url,
      RESTORE_URL: target.url,
    },
  });
});
afterAll(async () => {
  await reader.leave();
  await endProducts();
  await source.drop();
  await target.drop();
  rmSync(backups, { recursive: true });
});

followDocument('docs/operating.md', () => reader);
