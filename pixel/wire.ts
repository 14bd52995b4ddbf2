// What the collector takes. A page can put anything into an event, and old libraries change what the language does. Neither
// may cost a batch.

/**
 * Makes an integer of 32 bits. A value that is no number becomes 0, such as the place of a press that a script made without
 * one. A missing one becomes −1, such as some numbers of the environment.
 */
export const toInteger = (value: unknown = -1): number => Math.round(value as number) | 0;

// A page may replace it later.
const { stringify } = JSON;

/** Writes JSON as if nothing had a method `toJSON`. Prototype.js gives one to arrays, which makes texts of them. */
export const writeJson = (value: unknown): string =>
  stringify(value, function (this: Record<string, unknown>, name) {
    return this[name];
  });
