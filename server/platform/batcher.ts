/** An item that waits for its batch, and the callbacks of its caller. */
export interface PendingItem<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Creates a function that processes items in batches of at most `maxSize`, one batch at a time. Items that arrive while
 * a batch runs go into the next one, so that many items share a transaction and a single item does not wait. After a batch,
 * the next one has `pauseMs` to grow, unless it is full. `work` settles each item of its batch; if it throws, all items are
 * rejected.
 */
export function createBatcher<Item, Result>(
  maxSize: number,
  work: (batch: PendingItem<Item, Result>[]) => Promise<void>,
  pauseMs = 0,
): (item: Item) => Promise<Result> {
  const pending: PendingItem<Item, Result>[] = [];
  let isWorking = false;

  async function processQueue() {
    while (pending.length > 0) {
      const batch = pending.splice(0, maxSize);
      try {
        await work(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      if (pauseMs > 0 && pending.length < maxSize) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    isWorking = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, resolve, reject });
      if (isWorking) return;
      isWorking = true;
      setImmediate(processQueue);
    });
}
