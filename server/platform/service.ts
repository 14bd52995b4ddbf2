/**
 * The one holder of the process's live objects. The self-hosted entry and each of Next's bundles are separate module
 * instances: what must exist once per process hangs on the global object.
 */
const HOLDER = Symbol.for('bot-detection.service');

type Holder = { [HOLDER]?: unknown };

/** Finds the process's service, or creates and holds it. A creation that throws holds nothing. */
export function obtainService<T>(create: () => T): T {
  const holder = globalThis as Holder;
  holder[HOLDER] ??= create();
  return holder[HOLDER] as T;
}

/** Whether the process has its service. */
export function isServiceHeld(): boolean {
  return (globalThis as Holder)[HOLDER] !== undefined;
}

/** Lets go of the process's service, which its holder has closed. */
export function releaseService(): void {
  delete (globalThis as Holder)[HOLDER];
}
