import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { GET } from '../../app/api/trpc/[trpc]/route';
import { obtainService, releaseService } from '../../server/platform/service';

const SECRET = 'whsec_of_somebody';

vi.mock('../../server/procedures/router', async () => {
  const { publicProcedure, router } = await import('../../server/procedures/trpc');
  const faulty = publicProcedure.query(() => {
    throw new Error(SECRET);
  });
  return { appRouter: router({ faulty }) };
});

// Its router has none of the lists.
vi.mock('../../contract/exports', async (importOriginal) => ({ ...(await importOriginal<object>()), EXPORTS: [] }));

// `after` works only inside Next.
vi.mock('next/server', () => ({ after: () => {} }));

const error = vi.fn();
obtainService(() => ({
  env: {},
  log: { error, info: () => {}, isLevelEnabled: () => true },
  metrics: { countRequest: () => {} },
}));
beforeEach(() => error.mockClear());
afterAll(releaseService);

const get = (procedure: string) =>
  GET(new Request(`http://localhost/api/trpc/${procedure}`), { params: Promise.resolve({ trpc: procedure }) });

it('an internal error over tRPC is logged once, and its message is not sent', async () => {
  const response = await get('faulty');
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(JSON.parse(text).error).toMatchObject({ message: 'Internal error', data: { httpStatus: 500 } });
  expect(text).not.toContain(SECRET);
  expect(error.mock.calls).toEqual([
    [
      {
        err: expect.objectContaining({ message: SECRET }),
        requestId: response.headers.get('x-request-id'),
        procedure: 'faulty',
      },
      'a call failed',
    ],
  ]);
});

it('an error of the caller over tRPC is not logged', async () => {
  expect((await get('unknown')).status).toBe(404);
  expect(error).not.toHaveBeenCalled();
});
