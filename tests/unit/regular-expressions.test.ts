import ts from 'typescript-5';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSources, SOURCE_ROOTS } from '../support/imports';

// The analysis runs in this process. Its other backends start programs.
process.env.RECHECK_BACKEND = 'pure';
const { checkSync } = await import('recheck');

interface Pattern {
  where: string;
  source: string;
  flags: string;
}

const sources = readSources(SOURCE_ROOTS).map(({ path, text }) =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest),
);

/** Lists all nodes of the sources that `read` turns into a result. */
function collect<Result>(read: (node: ts.Node, file: ts.SourceFile) => Result | undefined): Result[] {
  const found: Result[] = [];
  for (const file of sources) {
    const visit = (node: ts.Node): void => {
      const result = read(node, file);
      if (result !== undefined) found.push(result);
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}

const literals = collect((node, file): Pattern | undefined => {
  if (!ts.isRegularExpressionLiteral(node)) return undefined;
  const end = node.text.lastIndexOf('/');
  return { where: file.fileName, source: node.text.slice(1, end), flags: node.text.slice(end + 1) };
});

/** The patterns of zod's text formats, by name. */
const ZOD_FORMATS = new Map(
  Object.entries(z.regexes).flatMap(([name, value]): [string, RegExp][] =>
    value instanceof RegExp
      ? [[name, value]]
      : name === 'datetime'
        ? [[name, z.regexes.datetime({ offset: true })]]
        : [],
  ),
);

/** Calls of a zod format, such as `z.email()` and `z.iso.datetime()`. */
const formats = collect((node, file): Pattern | undefined => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  if (!/^z\b/.test(node.expression.getText(file))) return undefined;
  const pattern = ZOD_FORMATS.get(node.expression.name.text);
  return pattern && { where: `${file.fileName} (zod)`, source: pattern.source, flags: pattern.flags };
});

/** The analysis of zod's date-time takes seconds, and much longer on a busy machine. */
const LIMIT_MS = 280_000;

const check = (source: string, flags: string) =>
  // Only the exact analysis, not the random search. It knows no lookarounds: write the expression without them.
  checkSync(source, flags, { checker: 'automaton', maxRepeatCount: 100, timeout: LIMIT_MS });

describe('a regular expression', () => {
  it('is found in the sources, and those of zod with it', () => {
    expect(literals.length).toBeGreaterThan(40);
    expect(formats.map(({ source }) => source)).toEqual(
      expect.arrayContaining([z.regexes.email.source, z.regexes.datetime({ offset: true }).source]),
    );
  });

  it('is written as a literal, so that this test sees it', () => {
    const made = collect((node, file) =>
      (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(file) === 'RegExp'
        ? `${file.fileName}: ${node.getText(file)}`
        : undefined,
    );
    expect(made).toEqual([]);
  });

  const unique = new Map([...literals, ...formats].map((each) => [`/${each.source}/${each.flags}`, each]));
  it.each([...unique].map(([text, pattern]) => ({ text, ...pattern })))(
    'takes at most linear time: $text in $where',
    ({ source, flags }) => {
      const result = check(source, flags);
      expect(result.status, result.status === 'vulnerable' ? `attack: ${result.attack.pattern}` : '').toBe('safe');
    },
  );
});

describe('the analysis', () => {
  it.each([
    ['a quadratic media type', /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i],
    ['a search for the end of a run', /\/+$/],
    ['nested repeats', /^(a+)+$/],
  ])('finds %s', (_what, { source, flags }) => {
    expect(check(source, flags).status).toBe('vulnerable');
  });
});
