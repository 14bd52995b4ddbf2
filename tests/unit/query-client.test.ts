import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { createQueryClient } from '../../app/dashboard/query-client';

it('a page rendered on the server does not retry: what fails there fails at once', async () => {
  for (const code of ['NOT_FOUND', 'INTERNAL_SERVER_ERROR'] as const) {
    const client = createQueryClient();
    let calls = 0;
    const queryFn = async () => {
      calls += 1;
      throw new TRPCError({ code });
    };
    await expect(client.fetchQuery({ queryKey: [code], queryFn })).rejects.toMatchObject({ code });
    await client.prefetchQuery({ queryKey: [code, 'ahead'], queryFn });
    expect(calls).toBe(2);
  }
});
