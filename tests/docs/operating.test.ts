import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Env, readEnv } from '../../server/platform/env';
import { createMetrics } from '../../server/platform/metrics';
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

it('the table of metrics lists all of ours, and no other', async () => {
  const rows = [...readFileSync('docs/operating.md', 'utf8').matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|/gm)];
  const named = rows.flatMap(([, names]) => names!.match(/[a-z_]+/g)!);
  const { text } = await createMetrics().scrape();
  const served = [...text.matchAll(/^# TYPE bot_detection_(\w+)/gm)].map(([, name]) => name!);
  expect(named.sort()).toEqual(served.filter((name) => !/^(process|nodejs)_/.test(name)).sort());
});

describe('the table of settings', () => {
  const [, table] = /^## Settings\n(.*?)^## /ms.exec(readFileSync('docs/operating.md', 'utf8'))!;
  const rows = [...table!.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)].map(([, name, shown]) => ({
    name: name!,
    shown: shown!,
  }));

  it('lists every setting, and no other', () => {
    const [, schema] = /^const schema = z\.object\(\{\n(.*?)^\}\);/ms.exec(
      readFileSync('server/platform/env.ts', 'utf8'),
    )!;
    const settings = [...schema!.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name);
    expect(settings.length).toBeGreaterThan(20);
    expect(rows.map(({ name }) => name).sort()).toEqual(settings.sort());
  });

  it.each(rows)('says what $name is by default: $shown', ({ name, shown }) => {
    const [, value] = /^`(.*)`$/.exec(shown) ?? [];
    const isOfQuota = name.startsWith('QUOTA_');
    const read = (env: Env) => (isOfQuota ? env.quotas : env[name as keyof Env]);
    if (value === undefined) {
      expect(shown).toMatch(/^unset\b/);
      expect([undefined, new Set()]).toContainEqual(read(readEnv({})));
    } else expect(read(readEnv({ [name]: value }))).toEqual(read(readEnv({})));
  });
});
