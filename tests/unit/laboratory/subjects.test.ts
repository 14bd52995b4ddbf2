import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planVisit } from '../../lab/pages/tasks';
import { TASKS } from '../../lab/subject';
import { loadSubjects } from '../../lab/subjects';

const DRIVERS = 'tests/lab/drivers/';
const MAX_DRIVER_LINES = 40;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

describe('the drivers of the laboratory', () => {
  it.each(readdirSync(DRIVERS))('%s has at most 40 lines', (file) => {
    const lines = readFileSync(DRIVERS + file, 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.length).toBeLessThanOrEqual(MAX_DRIVER_LINES);
  });

  it('are at least twelve, of several families, headless and headful', async () => {
    const drivers = (await loadSubjects()).filter(({ kind }) => kind === 'driver');
    expect(drivers.length).toBeGreaterThanOrEqual(12);
    expect(new Set(drivers.map(({ family }) => family)).size).toBeGreaterThanOrEqual(5);
    expect(new Set(drivers.map(({ isHeadful }) => isHeadful)).size).toBe(2);
    for (const { name } of drivers) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });
});

describe.each(TASKS)('a visit with the task %s', (task) => {
  it.each(SEEDS)('has what its steps need, with seed %i', (seed) => {
    const { pages, steps } = planVisit(task, seed);
    const html = [...pages.values()].map(({ body }) => body).join('');
    const targets = steps.flatMap((step) => ('target' in step ? [step.target] : []));
    for (const target of targets) expect(html).toContain(`id="${target.slice(1)}"`);
    expect(pages.has('start')).toBe(true);
    expect(targets.at(-1)).toBe('#done');
  });

  it('is the same for the same seed and looks different for another one', () => {
    expect(planVisit(task, 3)).toEqual(planVisit(task, 3));
    expect(planVisit(task, 3).style).not.toBe(planVisit(task, 4).style);
    const bodies = SEEDS.map((seed) => [...planVisit(task, seed).pages.values()].map(({ body }) => body).join(''));
    expect(new Set(bodies).size).toBe(SEEDS.length);
  });

  it('types nothing but letters, spaces, full stops and commas', () => {
    for (const step of SEEDS.flatMap((seed) => planVisit(task, seed).steps))
      if (step.do === 'type') expect(step.text).toMatch(/^[A-Za-z ,.]+$/);
  });
});
