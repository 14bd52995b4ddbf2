import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

export interface CopiedClients {
  /** Has the folders of `clients`. */
  folder: string;
  remove(): Promise<void>;
}

const BUILT = ['dist', 'node_modules'];

/**
 * Copies the sources of the clients to where builds still find the repository's compiler. Packing builds in the folder, and several test
 * files do it at once.
 */
export async function copyClients(): Promise<CopiedClients> {
  const cache = resolve('node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'clients-'));
  await cp('clients', folder, { recursive: true, filter: (path) => !BUILT.includes(basename(path)) });
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
