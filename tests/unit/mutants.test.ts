import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { chooseMutants, listMutants, writeSwitches } from '../mutants/mutants';

const directory = mkdtempSync(join(tmpdir(), 'mutants-unit-'));
const path = join(directory, 'source.ts');
const TEXT = 'if (a < 1 && b) log("x");\n';
writeFileSync(path, TEXT);
afterAll(() => rmSync(directory, { recursive: true }));

it('lists comparisons, connectives, numbers, conditions and statements that can be wrong', () => {
  expect(listMutants(path).map(({ original, mutated }) => `${original} → ${mutated}`)).toEqual([
    'a < 1 && b → !(a < 1 && b)',
    'a < 1 && b → a < 1 || b',
    'a < 1 → a <= 1',
    '1 → (1 + 1)',
    'log("x"); → ',
  ]);
});

it('chooses the same mutants for the same seed, none inside of another', () => {
  const chosen = chooseMutants(listMutants(path), 10, 7);
  expect(chosen).toEqual(chooseMutants(listMutants(path), 10, 7));
  expect(chosen).toHaveLength(2);
});

it('changes what the text does only while its switch is on', () => {
  const text = writeSwitches(TEXT, chooseMutants(listMutants(path), 10, 7)).replaceAll(' as any', '');
  const run = (isMutantOn: (id: number) => boolean) => {
    const logged: string[] = [];
    Object.assign(globalThis, { isMutantOn });
    new Function('a', 'b', 'log', text)(0, true, (word: string) => logged.push(word));
    return logged.length;
  };
  const before = Reflect.get(globalThis, 'isMutantOn');
  expect(run(() => false)).toBe(1);
  expect(run((id) => id === 2)).toBe(0);
  Object.assign(globalThis, { isMutantOn: before });
});
