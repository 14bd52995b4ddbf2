// Who the visitor is, as the page says it itself, or as a page of a learning platform shows it.
import type { BeaconUser } from '../contract/beacon';
import { READERS } from './lms/adapters';

/** An enum, because the bundler writes its values in place. */
enum Limit {
  length = 256,
}

/**
 * Reads what is said of a visitor. Without an id it is nothing. What is too long is left out, because half an id would be another
 * one. But such an id says that somebody is signed in, so the collector gets one that it takes for nobody's. It ignores what is
 * malformed.
 */
export function readUser(read: (name: string) => unknown): Partial<BeaconUser> {
  const user: Partial<BeaconUser> = {};
  for (const name of 'id,name,email,url,hash,context'.split(',') as 'id'[]) {
    // A list of nothing is an empty text.
    const text = `${[read(name)]}`;
    if (text[Limit.length]) {
      if (name === 'id') user.id = '\0';
    } else if (text) user[name] = text;
  }
  return user;
}

/** Reads whom a page of a learning platform shows as signed in. */
export function readLmsUser(): Partial<BeaconUser> | undefined {
  for (const read of READERS) {
    try {
      const id = `${read() || ''}`;
      // The collector names nobody whose id is too long.
      if (id) return { id: id.slice(0, Limit.length + 1), lms: 1 };
    } catch {} // a page of something else
  }
}
