// The pixel runs on other people's pages: nothing it does may throw into them or write to their console.

/** Takes what `data-debug` shows. */
export let note = (_what: unknown): void => {};

/** Shows batches, answers and faults in the console, for a page whose tag has `data-debug`. */
export function startDebugging(): void {
  // biome-ignore lint/suspicious/noConsole: the page asked for it
  note = (what) => console.info('[pixel]', what);
}

// A page may have a variable of this name later.
export const clock = performance;

/** Wraps a callback of the browser, so that no fault leaves it. Every listener, timer and promise of the pixel goes through here. */
export const guard =
  <Arguments extends unknown[], T>(run: (...args: Arguments) => T) =>
  (...args: Arguments): T | undefined => {
    try {
      return run(...args);
    } catch (fault) {
      try {
        note(fault);
      } catch {} // the page has replaced its console
    }
  };

/** The time of the wall clock, or nothing that is a number: a page can replace `Date`. */
export const readWallMs = guard(() => +Date.now()) as () => number;

/** Returns what `read` returns, or nothing if it throws, as storage and new interfaces do where they are refused. */
export const attempt = <T>(read: () => T): T | undefined => guard(read)();

/** Listens to an event, before the page does and without delaying it. */
export type Listen = <Name extends keyof WindowEventMap>(
  name: Name,
  take: (event: WindowEventMap[Name]) => void,
  target?: EventTarget,
) => void;

/** Creates a function that listens until the signal is aborted. */
export const createListen =
  (signal: AbortSignal): Listen =>
  (name, take, target = window) =>
    attempt(() =>
      target.addEventListener(name, guard(take as (event: Event) => void), { capture: true, passive: true, signal }),
    );
