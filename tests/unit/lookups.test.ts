import ts from 'typescript-5';
import { describe, expect, it } from 'vitest';
import { describeFlag } from '../../app/dashboard/[integrationId]/sessions/flag-words';
import { wordIssue } from '../../contract/wording';
import { readSources, SOURCE_ROOTS } from '../support/imports';

// A name from outside may be the name of a property that every object has. A Map has no such names.

const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

it.each(INHERITED)('a detection flag %s is shown as it is', (flag) => {
  expect(describeFlag(flag)).toBe(flag.replaceAll('_', ' '));
});

it.each(INHERITED)('a type %s has no noun', (expected) => {
  const issue = { code: 'invalid_type', expected, input: 1 } as unknown as Parameters<typeof wordIssue>[0];
  expect(wordIssue(issue)).toBe('must be of another type');
});

describe('a table that is looked up by any string', () => {
  /** Finds `const TABLE: Record<string, …> = { … }`. */
  function findTables(path: string, text: string): string[] {
    const found: string[] = [];
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (ts.isVariableDeclaration(node) && node.initializer && ts.isObjectLiteralExpression(node.initializer)) {
        const isConstant = /^[A-Z_]+$/.test(node.name.getText(file));
        if (isConstant && node.type?.getText(file).includes('Record<string,'))
          found.push(`${path}: ${node.name.getText(file)}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return found;
  }

  it('is a Map', () => {
    // To parse all sources takes seconds.
    const candidates = readSources(SOURCE_ROOTS).filter(({ text }) => text.includes('Record<string,'));
    expect(candidates.flatMap(({ path, text }) => findTables(path, text))).toEqual([]);
  });

  it('is found', () => {
    const text = `const WORDS: Readonly<Record<string, string>> = { a: 'b' };`;
    expect(findTables('x.ts', text)).toEqual(['x.ts: WORDS']);
  });
});
