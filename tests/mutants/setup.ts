import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';

// Turns one mutant on, or, without MUTANT, notes which mutants each test file reaches.

const on = Number(process.env.MUTANT ?? 0);
const reachedPath = process.env.MUTANTS_REACHED;
const reached = new Set<number>();

Object.assign(globalThis, {
  isMutantOn(id: number): boolean {
    if (reachedPath && !reached.has(id)) {
      reached.add(id);
      appendFileSync(reachedPath, `${id}\t${expect.getState().testPath}\n`);
    }
    return id === on;
  },
});
