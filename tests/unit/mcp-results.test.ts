import { expect, it } from 'vitest';
import { boundResult, countCharacters, MAX_RESULT_CHARACTERS } from '../../clients/mcp/src/bounds';
import { readFittingPage } from '../../clients/mcp/src/results';

it('looks at no more of an answer than a result has room for, however large the answer is', () => {
  const grow = (depth: number): unknown =>
    depth === 0 ? 'a text of some length '.repeat(3) : [grow(depth - 1), grow(depth - 1), grow(depth - 1)];
  let texts = 0;
  const { data, cuts } = boundResult(grow(9), (text) => {
    texts++;
    return text;
  });
  expect(countCharacters(data)).toBeLessThanOrEqual(MAX_RESULT_CHARACTERS);
  expect(cuts).toBeGreaterThan(0);
  // It has 19,683 texts, and is tried with six limits.
  expect(texts).toBeLessThan(5_000);
});

it('asks for a shorter page once if the answer is no shorter, as of a cache that ignores the query', async () => {
  const items = Array(20).fill('x'.repeat(3_000));
  const asked: unknown[] = [];
  const read = async (pageSize?: number) => {
    if (asked.push(pageSize) > 5) throw new Error('asked without end');
    return { items, hasMore: true, nextCursor: 'c', limit: 20 };
  };
  await readFittingPage(read, (text) => text);
  expect(asked).toEqual([undefined, 9]);
});
