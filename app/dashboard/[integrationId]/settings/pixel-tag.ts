import { headers } from 'next/headers';
import { readPixelRelease } from '../../../../server/rest/pixel-files';
import { getService } from '../../../../server/service';
import type { PixelTag } from './site-tag';

/** Reads what every tag of the pixel has in common: the address of the released file on this host, and its hash. */
export async function readPixelTag(): Promise<PixelTag> {
  const host = getService().env.publicUrl ?? (await readHost());
  const { file, integrity } = await readPixelRelease();
  return { src: `${host}/pixel/${file}`, integrity };
}

async function readHost(): Promise<string> {
  const given = await headers();
  const scheme = given.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  return `${scheme}://${given.get('host')}`;
}
