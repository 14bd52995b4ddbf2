import { expect, it } from 'vitest';
import { readSources } from '../support/imports';

// An exported name has one meaning, so nobody has to ask which of two things it is. Next prescribes the names that it
// looks for in files.

const EXPORTED = /^export (?:async )?(?:const|function|class|interface|type|enum) (\w+)/gm;
const GIVEN_BY_NEXT = ['metadata', 'maxDuration', 'GET', 'POST'];

it('no two files export the same name', () => {
  const filesOf = new Map<string, Set<string>>();
  for (const { path, text } of readSources(['app', 'contract', 'server', 'db', 'inngest'])) {
    for (const [, name] of text.matchAll(EXPORTED)) filesOf.set(name!, (filesOf.get(name!) ?? new Set()).add(path));
  }
  expect(filesOf.size).toBeGreaterThan(500);
  const shared = [...filesOf].filter(([name, files]) => files.size > 1 && !GIVEN_BY_NEXT.includes(name));
  expect(shared.map(([name, files]) => [name, ...files])).toEqual([]);
});
