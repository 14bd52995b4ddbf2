import type { ReviewProgress } from './progress';

// ReviewProgress survives a reload in the tab's own storage: ids and outcomes, no names.

/** So many queues of a tab are kept, for the browser's back button. */
const MAX_KEPT = 3;

const prefixOf = (integrationId: string) => `review ${integrationId} `;

/** Reads the progress in the queue that was opened at a time. Null if this tab has not opened it. */
export function readProgress(integrationId: string, openedAt: string): ReviewProgress | null {
  try {
    const stored = sessionStorage.getItem(prefixOf(integrationId) + openedAt);
    return stored === null ? null : (JSON.parse(stored) as ReviewProgress);
  } catch {
    return null;
  }
}

/** Keeps the progress. Without storage (blocked, full) a reload opens a new queue. */
export function storeProgress(integrationId: string, progress: ReviewProgress): void {
  const prefix = prefixOf(integrationId);
  try {
    const kept = Object.keys(sessionStorage)
      .filter((key) => key.startsWith(prefix))
      .sort();
    for (const key of kept.slice(0, Math.max(0, kept.length - MAX_KEPT))) sessionStorage.removeItem(key);
    sessionStorage.setItem(prefix + progress.openedAt, JSON.stringify(progress));
  } catch {
    // The review itself does not need it.
  }
}
