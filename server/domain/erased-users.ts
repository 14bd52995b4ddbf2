import { createHmac, randomBytes } from 'node:crypto';
import { isPseudonym } from '../../contract/pseudonyms';
import type { Database, Query } from '../../db/client';
import { createBatcher } from '../platform/batcher';

/** A user of an integration. */
export interface UserKey {
  integrationId: string;
  userId: string;
}

/** Makes the id that replaces a user's. It is random, so that nobody can compute whose it is. */
export const createPseudonym = () => `erased-${randomBytes(16).toString('hex')}`;

/** The name that an erased user has. */
export const ERASED_NAME = 'Erased user';

/** The payload of an event about an erased user. It is never sent. */
export const ERASED_PAYLOAD = '{"erased":true}';

/** Hashes a user's id with the key for erased users. */
export const hashUser = (erasureKey: Buffer, user: UserKey): string =>
  createHmac('sha256', erasureKey).update(makeUserKey(user)).digest('hex');

/** What replaces a user's id in the audit log: it does not tell the id, but somebody who knows the id can find it. */
export const hashSubject = (erasureKey: Buffer, user: UserKey): string =>
  `erased:${hashUser(erasureKey, user).slice(0, 32)}`;

/** Writes a user as one text. Ids contain no control characters. */
export const makeUserKey = ({ integrationId, userId }: UserKey) => `${integrationId}\n${userId}`;

/**
 * Finds which of some users were erased and are refused. Returns their keys (`makeUserKey`). Only ids of integrations that have erased
 * anybody are hashed: facts can name any number of texts that may be ids, and a hash takes a hundred times as long as all else.
 */
export async function findErasedUsers(query: Query, erasureKey: Buffer, users: UserKey[]): Promise<Set<string>> {
  if (users.length === 0) return new Set();
  const named = new Map(users.map((user) => [makeUserKey(user), user]));
  const pseudonyms = [...named].filter(([, { userId }]) => isPseudonym(userId)).map(([key]) => key);
  const integrations = await findErasing(query, users);
  const hashes = new Map(
    [...named]
      .filter(([, { integrationId }]) => integrations.has(integrationId))
      .map(([key, user]) => [hashUser(erasureKey, user), { key, integrationId: user.integrationId }]),
  );
  if (hashes.size === 0) return new Set(pseudonyms);
  const list = [...hashes].map(([hash, { integrationId }]) => ({ hash, integrationId }));
  const rows = await query<{ hash: string }>(FIND_ERASED, [JSON.stringify(list)]);
  return new Set([...rows.map(({ hash }) => hashes.get(hash)!.key), ...pseudonyms]);
}

/** Finds the integrations of some users that have erased anybody. */
async function findErasing(query: Query, users: UserKey[]): Promise<Set<string>> {
  const list = [...new Set(users.map(({ integrationId }) => integrationId))].map((integrationId) => ({
    integrationId,
  }));
  const rows = await query<{ id: string }>(FIND_ERASING, [JSON.stringify(list)]);
  return new Set(rows.map(({ id }) => id));
}

const FIND_ERASING = `
  select k."integrationId" as id from json_to_recordset($1::text::json) as k("integrationId" text)
   where exists (
     select from user_erasures e where e.integration_id = k."integrationId" and e.user_hash is not null)`;

const FIND_ERASED = `
  select k.hash from json_to_recordset($1::text::json) as k("integrationId" text, hash text)
   where exists (
     select from user_erasures e
      where e.integration_id = k."integrationId" and e.user_hash = decode(k.hash, 'hex') and e.refused_until > now())`;

/** For this long a process may not know of a new erasure. An erasure waits longer before it looks at what processes wrote. */
const KNOWN_MS = 1_000;
const MAX_GROUP = 64;

/**
 * Creates a function that tells whether a user was erased. It knows for a second which integrations have erased anybody, so for most
 * integrations it asks nothing. Rejects if the database is away.
 */
export function createErasedUserFinder(db: Database, erasureKey: Buffer): (user: UserKey) => Promise<boolean> {
  let known: { integrations: Promise<Set<string>>; atMs: number } | null = null;
  const find = createBatcher<UserKey, boolean>(MAX_GROUP, async (group) => {
    const erased = await findErasedUsers(
      db.query,
      erasureKey,
      group.map(({ item }) => item),
    );
    for (const { item, resolve } of group) resolve(erased.has(makeUserKey(item)));
  });

  async function readIntegrations(): Promise<Set<string>> {
    const rows = await db.query<{ id: string }>(LIST_INTEGRATIONS, []);
    return new Set(rows.map(({ id }) => id));
  }

  return async (user) => {
    if (isPseudonym(user.userId)) return true;
    if (known === null || performance.now() - known.atMs > KNOWN_MS) {
      known = { integrations: readIntegrations(), atMs: performance.now() };
      known.integrations.catch(() => {
        known = null;
      });
    }
    const integrations = await known.integrations;
    return integrations.has(user.integrationId) && find(user);
  };
}

/** One look-up for each integration, however many users they have erased. */
const LIST_INTEGRATIONS = `
  select i.id from integrations i where exists (
    select from user_erasures e where e.integration_id = i.id and e.user_hash is not null)`;
