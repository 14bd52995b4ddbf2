import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingError } from './env';

/**
 * Reads a generated secret of the data directory, or creates it (mode 0600). Written whole before it gets its name, so
 * that neither a crash nor a second process leaves half of one.
 */
export async function obtainSecretFile(
  dataDir: string,
  name: string,
  encoding: 'base64' | 'base64url',
): Promise<string> {
  const path = join(dataDir, name);
  const existing = await readFile(path, 'utf8').catch(() => null);
  if (existing !== null && existing.trim() !== '') return existing.trim();
  await mkdir(dataDir, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${randomBytes(32).toString(encoding)}\n`, { mode: 0o600, flush: true });
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(draft);
  const secret = (await readFile(path, 'utf8')).trim();
  if (secret === '') throw new SettingError(`DATA_DIR: ${path} is empty; restore it, or delete it to make a new one`);
  return secret;
}
