import { readFileSync } from 'node:fs';
import ts from 'typescript-5';

/** One small fault that a test should notice: `original` becomes `mutated` where the switch of its id is on. */
export interface Mutant {
  id: number;
  path: string;
  line: number;
  start: number;
  end: number;
  original: string;
  mutated: string;
  /** A statement is left out; every other mutant replaces an expression. */
  isStatement: boolean;
}

type Candidate = Omit<Mutant, 'id'>;

const SWAPPED: Partial<Record<ts.SyntaxKind, string>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
  [ts.SyntaxKind.PlusToken]: '-',
  [ts.SyntaxKind.MinusToken]: '+',
  [ts.SyntaxKind.AsteriskToken]: '/',
};

/** Lists every mutant that a file can have. */
export function listMutants(path: string): Candidate[] {
  const text = readFileSync(path, 'utf8');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Candidate[] = [];

  const add = (node: ts.Node, mutated: string, isStatement = false) =>
    found.push({
      path,
      line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1,
      start: node.getStart(),
      end: node.end,
      original: node.getText(),
      mutated,
      isStatement,
    });

  const visit = (node: ts.Node): void => {
    // Types and imports do nothing at run time; a pattern or a property's name is no expression.
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const operator = SWAPPED[node.operatorToken.kind];
      const isText = [node.left, node.right].some(
        (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
      );
      if (operator && !isText) add(node, `${node.left.getText()} ${operator} ${node.right.getText()}`);
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      add(node, node.operand.getText());
    } else if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
      add(node, node.kind === ts.SyntaxKind.TrueKeyword ? 'false' : 'true');
    } else if (ts.isNumericLiteral(node) && !ts.isPropertyAssignment(node.parent)) {
      add(node, `(${node.text} + 1)`);
    } else if (ts.isConditionalExpression(node)) {
      add(node, `${node.condition.getText()} ? ${node.whenFalse.getText()} : ${node.whenTrue.getText()}`);
    } else if (ts.isIfStatement(node)) {
      add(node.expression, `!(${node.expression.getText()})`);
    } else if (ts.isExpressionStatement(node) && !/^(super|\w+ = )/.test(node.getText())) {
      add(node, '', true);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Numbers from a seed (mulberry32), so that a run can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chooses mutants at random, none inside of another. */
export function chooseMutants(candidates: Candidate[], count: number, seed: number): Mutant[] {
  const random = createRandom(seed);
  const order = candidates.map((candidate) => ({ candidate, key: random() })).sort((a, b) => a.key - b.key);
  const chosen: Mutant[] = [];
  for (const { candidate } of order) {
    if (chosen.length === count) break;
    const overlaps = (other: Mutant) =>
      other.path === candidate.path && candidate.start < other.end && other.start < candidate.end;
    if (!chosen.some(overlaps)) chosen.push({ ...candidate, id: chosen.length + 1 });
  }
  return chosen;
}

/** Writes all mutants of a file into its text, each behind its switch. */
export function writeSwitches(text: string, mutants: Mutant[]): string {
  let written = text;
  for (const { id, start, end, original, mutated, isStatement } of mutants.toSorted((a, b) => b.start - a.start)) {
    const isOn = `(globalThis as any).isMutantOn?.(${id})`;
    // The braces keep an `else` that follows with its own `if`.
    const replacement = isStatement ? `{ if (!${isOn}) { ${original} } }` : `(${isOn} ? (${mutated}) : (${original}))`;
    written = written.slice(0, start) + replacement + written.slice(end);
  }
  return written;
}
