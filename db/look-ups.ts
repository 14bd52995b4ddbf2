import type { Query } from './transaction';

/** How many look-ups may wait on their connection. */
const MAX_WAITING = 16;
/** How long the connection may be silent while look-ups wait on it. Then a statement takes long, and others do not queue up behind it. */
const MAX_SILENCE_MS = 5;

/**
 * Sends look-ups to one connection outside of the pool while it answers in time, and to the pool otherwise. One busy
 * connection costs less than several used in turn: simultaneous statements are written and read together, and one process of
 * Postgres stays in the caches.
 */
export function openLookUps(own: Query, pool: Query): Query {
  let waiting = 0;
  let heardMs = 0;
  const end = () => {
    waiting--;
    heardMs = performance.now();
  };
  return <Row extends object>(text: string, parameters: Parameters<Query>[1]) => {
    const nowMs = performance.now();
    const isLate = waiting > 0 && nowMs - heardMs > MAX_SILENCE_MS;
    if (isLate || waiting >= MAX_WAITING) return pool<Row>(text, parameters);
    if (waiting++ === 0) heardMs = nowMs;
    const answer = own<Row>(text, parameters);
    answer.then(end, end);
    return answer;
  };
}
