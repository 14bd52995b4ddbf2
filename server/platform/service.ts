/**
 * Holds the process's service on the global object, because the self-hosted entry and each of Next's bundles are
 * separate module instances.
 */
const HOLDER = Symbol.for('bot-detection.service');

type Holder = { [HOLDER]?: unknown };

/** Returns the process's service, or creates and stores it. If creation throws, nothing is stored. */
export function obtainService<T>(create: () => T): T {
  const holder = globalThis as Holder;
  holder[HOLDER] ??= create();
  return holder[HOLDER] as T;
}

/** Removes the process's service. Its owner must have closed it. */
export function releaseService(): void {
  delete (globalThis as Holder)[HOLDER];
}
