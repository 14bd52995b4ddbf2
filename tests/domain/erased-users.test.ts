import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Query } from '../../db/client';
import { hasSealedSecrets } from '../../db/sealed-secrets';
import { findErasedUsers, hashUser, makeUserKey, type UserKey } from '../../server/domain/erased-users';
import { createTestDatabase, type TestDatabase } from '../support/database';

// Which users were erased, on a real Postgres.

const KEY = Buffer.alloc(32, 1);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const erase = (user: UserKey) => database.db.sql`
  insert into user_erasures (integration_id, id, user_hash, refused_until, position, counts)
  values (${user.integrationId}, ${`era-${user.userId}`}, decode(${hashUser(KEY, user)}, 'hex'), now() + interval '1 day', '{}', '{}')`;

it('their hashes need the APP_SECRET: a data directory that has lost it gets no other one', async () => {
  expect(await hasSealedSecrets(database.url)).toBe(false);
  await erase({ integrationId: 'third', userId: 'ada' });
  expect(await hasSealedSecrets(database.url)).toBe(true);
});

describe('the erased ones of some users', () => {
  const ada = { integrationId: 'one', userId: 'ada' };
  const bob = { integrationId: 'one', userId: 'bob' };
  const others = ['ada', 'bob', 'eve'].map((userId) => ({ integrationId: 'other', userId }));
  const pseudonym = { integrationId: 'other', userId: `erased-${'0'.repeat(32)}` };

  /** Finds them, and counts the hashes that Postgres is asked for. */
  async function find(users: UserKey[]) {
    let hashes = 0;
    const query: Query = (text, parameters) => {
      hashes += String(parameters[0]).split('"hash"').length - 1;
      return database.db.query(text, parameters);
    };
    return { found: [...(await findErasedUsers(query, KEY, users))], hashes };
  }

  it('are found by their integration and their id, without hashing those of integrations that have erased nobody', async () => {
    await erase(ada);
    expect(await find([ada, bob, ...others])).toEqual({ found: [makeUserKey(ada)], hashes: 2 });
    expect(await find(others)).toEqual({ found: [], hashes: 0 });
    expect(await find([])).toEqual({ found: [], hashes: 0 });
  });

  it('include every id that replaced one', async () => {
    expect(await find([...others, pseudonym])).toEqual({ found: [makeUserKey(pseudonym)], hashes: 0 });
    expect(await find([ada, pseudonym])).toEqual({ found: [makeUserKey(ada), makeUserKey(pseudonym)], hashes: 1 });
  });
});
