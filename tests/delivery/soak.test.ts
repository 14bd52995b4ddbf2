import { randomInt } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { meetsGoal } from '../bench/report';
import { runSoak } from '../soak/soak';
import { createTestDatabase } from '../support/database';
import { endProducts } from '../support/product';

// A short run of what `npm run soak` does for any length of time.

const DURATION_MS = 10_000;
const seed = Number(process.env.SOAK_SEED ?? randomInt(2 ** 31));
const database = await createTestDatabase();
afterAll(async () => {
  await endProducts();
  await database.drop();
});

it(`mixed traffic under faults loses nothing, repeats nothing without a cause, and gets correct answers (SOAK_SEED=${seed})`, async () => {
  const { figures, faults } = await runSoak(database, { durationMs: DURATION_MS, seed, onProgress: () => {} });
  expect(faults, faults.join('\n')).toEqual([]);
  expect(figures.filter((figure) => meetsGoal(figure) === false)).toEqual([]);
  for (const name of ['requests answered', 'faults injected', 'sessions told', 'deliveries'])
    expect([name, figures.find((figure) => figure.name === name)!.value]).not.toEqual([name, 0]);
});
