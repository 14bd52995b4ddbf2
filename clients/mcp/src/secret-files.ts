import { mkdir, open, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RefusedCall } from './errors.js';
import type { Content } from './results.js';

/**
 * Runs a call whose answer has a signing secret, and stores the secret in a file of the user. The result names the file. An
 * assistant never gets the secret: what it knows is kept in conversations and can be talked out of it by what visitors write.
 */
export async function storeSecret<T extends { id: string; secret: string }>(call: () => Promise<T>): Promise<Content> {
  // Before the call, because the secret is shown once.
  const { file, path } = await openFile();
  try {
    const { secret, ...data } = await call();
    await file.writeFile(`${secret}\n`);
    await file.sync();
    await file.close();
    const time = new Date().toISOString().replace(/[^0-9TZ]/g, '');
    const named = join(SECRETS, `${data.id.replace(/\W/g, '_')}-${time}`);
    await rename(path, named);
    return {
      data,
      note: `The signing secret is in the file ${named} of this computer. It is not shown to assistants.`,
    };
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

const SECRETS = join(homedir(), '.bot-detection', 'webhook-secrets');

async function openFile() {
  const path = join(SECRETS, `.new-${crypto.randomUUID()}`);
  try {
    await mkdir(SECRETS, { recursive: true, mode: 0o700 });
    return { file: await open(path, 'wx', 0o600), path };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RefusedCall(
      'CANNOT_STORE_SECRET',
      `the secret could not be stored in ${SECRETS} (${code}), so nothing was changed`,
      'the operator must make that folder writable',
    );
  }
}
