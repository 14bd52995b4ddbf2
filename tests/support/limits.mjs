/** How long tests wait for something whose time is not what they test. Nothing that works takes as long, also on a machine that is busy. */
export const WAIT_LIMIT_MS = 180_000;
