import { expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '../../server/auth/passwords';

it('refuses to check passwords when twenty wait already, and checks them again later', async () => {
  const hash = await hashPassword('correct horse');
  const tries = Array.from({ length: 30 }, () => verifyPassword('correct horse', hash));
  const results = await Promise.allSettled(tries);
  expect(results.slice(0, 22)).toEqual(Array(22).fill({ status: 'fulfilled', value: true }));
  for (const result of results.slice(22))
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } });
  expect(await verifyPassword('correct horse', hash)).toBe(true);
});
