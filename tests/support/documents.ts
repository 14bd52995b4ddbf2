import { readdirSync, readFileSync } from 'node:fs';

/** A fenced block of a document, indented or not: the opening line is ```` ```LANGUAGE [NAME] ````. */
export interface Block {
  document: string;
  /** Line number of the opening line, from 1. */
  line: number;
  language: string;
  /** The second word of the opening line: a file's name, `keep-running` or an event type. Null if there is none. */
  name: string | null;
  code: string;
  /** Why no test runs the block, from `<!-- not run: why -->` on the line before. Null if a test runs it. */
  notRun: string | null;
}

/** The documents whose blocks are run or checked. */
export const DOCUMENTS = [
  'README.md',
  'docs/quickstart.md',
  'docs/webhooks.md',
  'docs/operating.md',
  'docs/regions.md',
  'SECURITY.md',
];

/** The documents whose links are checked: all except the specification, which is given. */
export const LINKED_DOCUMENTS = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/tour/README.md'],
  ...['typescript', 'python', 'mcp'].map((client) => `clients/${client}/README.md`),
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md') && name !== 'specification.md')
    .map((name) => `docs/${name}`),
];

const OPENING = /^( *)```(\S*) *(\S*)(.*)$/;

/** Reads the fenced blocks of a document in order. Throws if a fence does not end. */
export function readBlocks(document: string): Block[] {
  const lines = readFileSync(document, 'utf8').split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const opening = OPENING.exec(lines[at]!);
    if (!opening) continue;
    const [, indent, language, name, rest] = opening;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end < 0) throw new Error(`${document}:${at + 1}: the block does not end`);
    if (rest!.trim() !== '') throw new Error(`${document}:${at + 1}: more than a language and a name`);
    const [before = ''] = lines.slice(0, at).filter(Boolean).slice(-1);
    blocks.push({
      document,
      line: at + 1,
      language: language!,
      name: name! || null,
      code: lines
        .slice(at + 1, end)
        .map((line) => line.slice(indent!.length))
        .join('\n'),
      notRun: /^ *<!-- not run: (.+) -->$/.exec(before)?.[1] ?? null,
    });
    at = end;
  }
  return blocks;
}

/**
 * Compares what a command printed with what a document shows: `json` by keys and types (null stands for any value; each
 * item of an array must be like one of the shown ones), `text` by lines, in which `…` stands for anything. Returns the first difference,
 * or null.
 */
export function findDifference({ language, code }: Block, printed: string): string | null {
  if (language === 'json') return differInShape(JSON.parse(code), JSON.parse(printed), '$');
  const lines = printed.trimEnd().split('\n');
  for (const [index, expected] of code.split('\n').entries()) {
    const parts = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    if (!new RegExp(`^${parts.join('.*')}$`).test(lines[index] ?? '')) {
      return `line ${index + 1} is ${JSON.stringify(lines[index])} instead of ${JSON.stringify(expected)}`;
    }
  }
  return null;
}

function differInShape(expected: unknown, actual: unknown, path: string): string | null {
  if (expected === null || actual === null) return null;
  const [wanted, got] = [expected, actual].map((value) => (Array.isArray(value) ? 'array' : typeof value));
  if (wanted !== got) return `${path} is of type ${got} instead of ${wanted}`;
  if (Array.isArray(expected)) {
    const items = actual as unknown[];
    if (expected.length > 0 && items.length === 0) return `${path} is empty`;
    return firstOf(items, (item, index) => {
      const differences = expected.map((shown) => differInShape(shown, item, `${path}[${index}]`));
      return differences.includes(null) ? null : (differences[0] ?? null);
    });
  }
  if (typeof expected !== 'object') return null;
  const [wantedKeys, gotKeys] = [expected, actual].map((value) =>
    Object.keys(value as object)
      .sort()
      .join(' '),
  );
  if (wantedKeys !== gotKeys) return `${path} has the keys ${gotKeys} instead of ${wantedKeys}`;
  return firstOf(Object.entries(expected), ([key, value]) =>
    differInShape(value, (actual as Record<string, unknown>)[key], `${path}.${key}`),
  );
}

function firstOf<T>(items: T[], find: (item: T, index: number) => string | null): string | null {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== null) return found;
  }
  return null;
}
