/**
 * Parses an absolute address, or one that is relative to `base`. Returns null if it is none. Do not ask `URL.canParse`: in Node 20 and 22,
 * after some thousand calls, it refuses hosts with letters such as `ü`, and accepts addresses that `new URL` refuses.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
