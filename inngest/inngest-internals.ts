// Everything that reaches into the inside of the Inngest SDK. `tests/domain/library-internals.test.ts` fails when an upgrade
// moves it.

/** Where the SDK keeps its AsyncLocalStorage for the whole process. */
const STORAGE = Symbol.for('inngest:als');

/**
 * Gives the SDK the storage that it has for platforms without AsyncLocalStorage: one that remembers nothing. Call it before
 * the first run. Before Node 24, the first use of an AsyncLocalStorage makes each promise of the process slower for good,
 * and every run would use the SDK's: 6 to 25 % of Node's CPU time per delivery. Only groups and experiments need it.
 */
export function disableAsyncContext(): void {
  const resolved = { getStore: () => undefined, run: (_store: unknown, work: () => unknown) => work() };
  Object.assign(globalThis, { [STORAGE]: { resolved, promise: Promise.resolve(resolved), isFallback: true } });
}
