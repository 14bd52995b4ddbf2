import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SettingError } from './env';
import { pipelineToken } from './setting-values';

/** Creates the data directory and its missing parents. Throws a SettingError if the system refuses, or if it is none. */
export async function createDataDir(dataDir: string): Promise<void> {
  // Not with `recursive`: below an existing folder that takes no new entries (/proc), Node would retry forever.
  const missing: string[] = [];
  for (let path = dataDir; !(await exists(path)); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path).catch(({ code }: NodeJS.ErrnoException) => {
      if (code !== 'EEXIST') throw new SettingError(`DATA_DIR: ${dataDir} cannot be created (${code})`);
    });
  }
  const isDirectory = await stat(dataDir).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isDirectory) throw new SettingError(`DATA_DIR: ${dataDir} is not a directory`);
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Reads a generated secret from the data directory, or creates it (mode 0600). The file is written completely before it
 * gets its final name, so that neither a crash nor a second process leaves a partial one.
 */
async function obtainSecretFile(dataDir: string, name: string, encoding: 'base64' | 'base64url'): Promise<string> {
  const path = join(dataDir, name);
  const existing = await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ENOENT') throw new SettingError(`DATA_DIR: ${path} cannot be read (${code})`);
    return '';
  });
  if (existing.trim() !== '') return existing.trim();
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

/**
 * Reads the generated APP_SECRET, or creates it. Throws a SettingError if its file is damaged, or if it is gone although something is
 * sealed or hashed with it: a new one could not read what is stored.
 */
export async function obtainAppSecret(dataDir: string, isSealed: () => Promise<boolean>): Promise<Buffer> {
  const path = join(dataDir, 'app-secret');
  if (!(await exists(path)) && (await isSealed()))
    throw new SettingError(
      `DATA_DIR: ${path} is missing, and webhook or identity secrets or erased users need it; restore it, or put 32 new bytes in base64 there, rotate these secrets and erase these users again`,
    );
  const secret = Buffer.from(await obtainSecretFile(dataDir, 'app-secret', 'base64'), 'base64');
  if (secret.length === 32) return secret;
  throw new SettingError(`DATA_DIR: ${path} must have 32 bytes in base64; restore it`);
}

/** Reads the generated PIPELINE_TOKEN, or creates it. Throws a SettingError if its file has what the setting may not have. */
export async function obtainPipelineToken(dataDir: string): Promise<string> {
  const token = await obtainSecretFile(dataDir, 'pipeline-token', 'base64url');
  const [fault] = pipelineToken.safeParse(token).error?.issues ?? [];
  if (!fault) return token;
  const path = join(dataDir, 'pipeline-token');
  throw new SettingError(`DATA_DIR: ${path} ${fault.message}; restore it, or delete it to make a new one`);
}
