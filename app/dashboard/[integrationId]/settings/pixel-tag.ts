import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { headers } from 'next/headers';
import { getService } from '../../../../server/service';
import type { PixelTag } from './site-tag';

/** Reads what every tag of the pixel has in common: the address of the released file on this host, and its hash. */
export async function readPixelTag(): Promise<PixelTag> {
  const host = getService().env.publicUrl ?? (await readHost());
  const current = await readFile(join(process.cwd(), 'pixel/released/current.json'), 'utf8').catch(() => null);
  // Without a released file there is only the address that always has the latest one, which no hash fits for long.
  if (current === null) return { src: `${host}/pixel.js`, integrity: null };
  const { file, integrity } = JSON.parse(current) as { file: string; integrity: string };
  return { src: `${host}/pixel/${file}`, integrity };
}

async function readHost(): Promise<string> {
  const given = await headers();
  const scheme = given.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  return `${scheme}://${given.get('host')}`;
}
