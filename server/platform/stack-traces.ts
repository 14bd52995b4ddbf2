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
  const [start, ...positions] = stack.split(`${BUNDLE}:`);
  if (positions.length > 0 && map === undefined) map = readMap(`${fileURLToPath(BUNDLE)}.map`);
  return start + positions.map(nameSource).join('');
}

/** Names the source of a position, `line:column` and what follows in the trace. */
function nameSource(position: string): string {
  const [text = '', line, column] = /^(\d{1,9}):(\d{1,9})/.exec(position) ?? [];
  const origin = map?.findEntry(Number(line) - 1, Number(column) - 1);
  if (!text || !origin || !('originalSource' in origin)) return `${BUNDLE}:${position}`;
  const source = relative(process.cwd(), fileURLToPath(new URL(origin.originalSource, BUNDLE)));
  return `${source}:${origin.originalLine + 1}:${origin.originalColumn + 1}${position.slice(text.length)}`;
}

function readMap(path: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null; // A trace with the lines of the bundle is better than none.
  }
}
