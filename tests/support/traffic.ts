import { onTestFinished } from 'vitest';

/**
 * Repeats `step` for each of `clients` at the same time until it is stopped, at the latest when the test ends. Traffic that outlived a
 * failed test would slow down every later file of its worker. `stop` waits for the last steps, and throws what one of them threw.
 */
export function keepSending(clients: number, step: (client: number) => Promise<unknown>): { stop(): Promise<void> } {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  onTestFinished(end);
  const work = Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (!isOver) await step(client);
    }),
  );
  work.catch(() => {});
  return {
    async stop() {
      end();
      await work;
    },
  };
}
