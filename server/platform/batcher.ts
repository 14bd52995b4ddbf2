/** An item that waits for its batch, and how its caller learns what came of it. */
export interface Pending<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Creates a function that hands items over in batches of at most `maxSize`, one batch at a time: what comes while one is
 * under way goes with the next, so that many share a transaction and a lone one waits for nothing. `work` settles each
 * item of its batch; what it throws rejects all of them.
 */
export function createBatcher<Item, Result>(
  maxSize: number,
  work: (batch: Pending<Item, Result>[]) => Promise<void>,
): (item: Item) => Promise<Result> {
  const pending: Pending<Item, Result>[] = [];
  let isWorking = false;

  async function workOff() {
    while (pending.length > 0) {
      const batch = pending.splice(0, maxSize);
      try {
        await work(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWorking = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, resolve, reject });
      if (isWorking) return;
      isWorking = true;
      setImmediate(workOff);
    });
}
