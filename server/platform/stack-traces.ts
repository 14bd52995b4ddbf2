import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The file that this code runs from: a bundle in `dist/`, which has a source map next to it, or the source itself. */
const BUNDLE = import.meta.url;

let map: SourceMap | null | undefined;

/**
 * Names the lines of our sources in a stack trace that names those of the bundle. Reads the source map (2 MB, and 10 MB in memory) at
 * the first call. Node does not do this in the log: Next takes over how the traces of a process are written.
 */
export function nameSources(stack: string): string {
  if (!stack.includes(BUNDLE)) return stack;
  if (map === undefined) map = readMap(`${fileURLToPath(BUNDLE)}.map`);
  return stack.replaceAll(BUNDLE_POSITION, (position, line, column) => {
    const origin = map?.findEntry(Number(line) - 1, Number(column) - 1);
    if (!origin || !('originalSource' in origin)) return position;
    const source = relative(process.cwd(), fileURLToPath(new URL(origin.originalSource, BUNDLE)));
    return `${source}:${origin.originalLine + 1}:${origin.originalColumn + 1}`;
  });
}

const BUNDLE_POSITION = new RegExp(`${BUNDLE.replace(/[^\w/]/g, '\\$&')}:(\\d+):(\\d+)`, 'g');

function readMap(path: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null; // A trace with the lines of the bundle is better than none.
  }
}
