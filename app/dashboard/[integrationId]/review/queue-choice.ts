import type { ReviewQueueKind, ReviewWindow } from '../../../../contract/review';

export const QUEUE_NAMES: Record<ReviewQueueKind, string> = { score: 'By score', sample: 'Random sample' };
export const WINDOW_NAMES: Record<ReviewWindow, string> = {
  today: 'Today',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
};
export const DEFAULT_QUEUE = 'score';
export const DEFAULT_WINDOW = '24h';

/** Reads from a page's query which queue it shows. */
export function readQueueChoice(search: URLSearchParams): { queue: ReviewQueueKind; window: ReviewWindow } {
  const [queue, window] = [search.get('queue') ?? '', search.get('window') ?? ''];
  return {
    queue: Object.hasOwn(QUEUE_NAMES, queue) ? (queue as ReviewQueueKind) : DEFAULT_QUEUE,
    window: Object.hasOwn(WINDOW_NAMES, window) ? (window as ReviewWindow) : DEFAULT_WINDOW,
  };
}
