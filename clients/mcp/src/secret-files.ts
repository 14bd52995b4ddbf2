import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RefusedCall } from './errors.js';
import type { Content } from './results.js';

/**
 * Runs a call whose answer has a signing secret, and stores the secret in a file of the user. The result names the file. An
 * assistant never gets the secret: what it knows is kept in conversations, and what visitors write can talk it into revealing it.
 */
export async function storeSecret<T extends { id: string; secret: string }>(call: () => Promise<T>): Promise<Content> {
  // Before the call, because the secret is shown once.
  const path = await reserveFile();
  try {
    const { secret, ...data } = await call();
    const file = await storeText(`${secret}\n`, path, data.id);
    return {
      data,
      note: `The signing secret is in the file ${file} of this computer. It is not shown to assistants.`,
    };
  } finally {
    await removeFile(path);
  }
}

const SECRETS = join(homedir(), '.bot-detection', 'webhook-secrets');

const OPTIONS = { mode: 0o600, flush: true };
/** More than a secret has. */
const RESERVED_BYTES = 256;

const removeFile = (path: string) => rm(path, { force: true }).catch(() => {});
const readCode = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Creates a file and takes its space on the disk, so that a full one is noticed while nothing is changed yet. */
async function reserveFile(): Promise<string> {
  const path = join(SECRETS, `.new-${crypto.randomUUID()}`);
  try {
    await mkdir(SECRETS, { recursive: true, mode: 0o700 });
    await writeFile(path, ' '.repeat(RESERVED_BYTES), { ...OPTIONS, flag: 'wx' });
    return path;
  } catch (error) {
    await removeFile(path);
    throw new RefusedCall(
      'CANNOT_STORE_SECRET',
      `the secret could not be stored in ${SECRETS} (${readCode(error)}), so nothing was changed`,
      'the operator must make that folder writable',
    );
  }
}

/** Writes the secret of a webhook into the reserved file, and returns the name that it has then. */
async function storeText(text: string, path: string, webhookId: string): Promise<string> {
  const time = new Date().toISOString().replace(/[^0-9TZ]/g, '');
  const named = join(SECRETS, `${webhookId.replace(/\W/g, '_')}-${time}`);
  try {
    await writeFile(path, text, OPTIONS);
    await rename(path, named);
    return named;
  } catch (error) {
    throw new RefusedCall(
      'SECRET_LOST',
      `${webhookId} has a new secret, which could not be stored in ${SECRETS} (${readCode(error)})`,
      'the operator must make that folder writable, and then call rotate_webhook_secret for it',
    );
  }
}
