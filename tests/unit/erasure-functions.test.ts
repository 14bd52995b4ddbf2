import type { Inngest } from 'inngest';
import { expect, it } from 'vitest';
import { createErasureFunctions } from '../../inngest/functions/erasures';

type Handler = (context: object) => Promise<void>;

it('an erasure asks for no pause below a second, which is Inngest’s shortest', async () => {
  const client = { createFunction: (_: object, handler: Handler) => handler } as unknown as Inngest;
  const pauses = [250, 0, 1_500, null];
  const [erase] = createErasureFunctions(client, {
    continueErasure: async () => pauses.shift()!,
    wakeErasures: async () => 0,
  }) as unknown as Handler[];
  const slept: [string, number][] = [];
  const step = {
    run: (_: string, work: () => Promise<unknown>) => work(),
    sleep: async (id: string, ms: number) => void slept.push([id, ms]),
  };
  await erase!({ event: { data: {} }, step });
  expect(slept).toEqual([
    ['pause-0', 1_000],
    ['pause-2', 1_500],
  ]);
});
