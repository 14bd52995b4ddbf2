import { setTimeout as delay } from 'node:timers/promises';
import { POLL_LIMIT_MS } from './limits.mjs';

/** Repeats a check until it no longer throws. Throws its last error when the time is over. */
export async function eventually(check: () => unknown, timeoutMs = POLL_LIMIT_MS): Promise<void> {
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

/** Sign-ins count each try, and an account has ten. */
const MAX_REFUSALS = 8;
const FIRST_PAUSE_MS = 500;

/**
 * Asks again while the service is unavailable, as clients do: on a busy machine the database may be too slow at times. For what
 * prepares a test, not for what it tests.
 */
export async function untilServed<Answered>(
  ask: () => Promise<Answered>,
  readStatus: (answer: Answered) => number,
): Promise<Answered> {
  let answer = await ask();
  for (let again = 0; readStatus(answer) === 503 && again < MAX_REFUSALS; again++) {
    await delay(FIRST_PAUSE_MS * 2 ** again);
    answer = await ask();
  }
  return answer;
}
