// Tabs of a browser share the cookie of staff, and nothing tells a page that another one has changed it.

let opened: BroadcastChannel | undefined;

/** One for the page: its own messages do not come back to it. */
function openChannel(): BroadcastChannel {
  opened ??= new BroadcastChannel('staff-sign-in');
  return opened;
}

/** Tells the other tabs that somebody has signed in or out. */
export const tellOtherTabs = (): void => openChannel().postMessage(null);

/** Listens to other tabs. Returns how to end that. */
export function listenToOtherTabs(listener: () => void): () => void {
  const channel = openChannel();
  channel.addEventListener('message', listener);
  return () => channel.removeEventListener('message', listener);
}
