/** How long a program may take to start, and what else waits for programs alone. Nothing that works takes as long. */
export const WAIT_LIMIT_MS = 180_000;
/**
 * How long a test waits for a condition or for a step of a page. Less than a minute, so that what must happen at once is not taken for
 * what a cron does in the next minute.
 */
export const POLL_LIMIT_MS = 30_000;
