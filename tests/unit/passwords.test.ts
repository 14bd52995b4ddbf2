import type * as crypto from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { hashPassword, verifyPassword } from '../../server/auth/passwords';

// A derivation is made to cost next to nothing: how many wait does not depend on how long each takes.
vi.mock('node:crypto', async (load) => {
  const original = await load<typeof crypto>();
  const scrypt = ((password, salt, length, _, answer) =>
    original.scrypt(password, salt, length, { N: 2 }, answer)) as typeof original.scrypt;
  return { ...original, scrypt };
});

it('refuses to check passwords when twenty wait already, and checks them again later', async () => {
  const hash = await hashPassword('correct horse');
  const tries = Array.from({ length: 30 }, () => verifyPassword('correct horse', hash));
  const results = await Promise.allSettled(tries);
  expect(results.slice(0, 22)).toEqual(Array(22).fill({ status: 'fulfilled', value: true }));
  expect(results.slice(22)).toMatchObject(
    Array(8).fill({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } }),
  );
  expect(await verifyPassword('correct horse', hash)).toBe(true);
});
