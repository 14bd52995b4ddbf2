import { setTimeout as delay } from 'node:timers/promises';

/** Repeats a check until it no longer throws. Throws its last error when the time is over. */
export async function eventually(check: () => unknown, timeoutMs = 30_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(20);
    }
  }
}
