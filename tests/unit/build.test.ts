import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('a build without the development packages says what is missing', () => {
  const directory = mkdtempSync(join(tmpdir(), 'build-'));
  for (const file of ['start.mjs', 'build.mjs', 'external-packages.mjs'])
    cpSync(join('server', file), join(directory, 'server', file));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const { status, stderr } = spawnSync(process.execPath, ['server/start.mjs', 'build'], {
    cwd: directory,
    encoding: 'utf8',
  });
  rmSync(directory, { recursive: true });
  expect([status, stderr]).toEqual([1, 'Building needs the development packages: npm install --include=dev\n']);
});
