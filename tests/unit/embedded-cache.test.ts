import { describe, expect, it } from 'vitest';
import { chooseCacheMib } from '../../db/embedded-server';

const GIB = 2 ** 30;
const choose = (memoryGib: number, system: { limitBytes?: number; isStrict?: boolean } = {}) =>
  chooseCacheMib({ memoryBytes: memoryGib * GIB, limitBytes: 0, isStrict: false, ...system });

describe('the memory that the embedded Postgres keeps the database in', () => {
  it.each([
    [0.5, 128],
    [1, 128],
    [1.5, 192],
    [8, 1024],
    [16, 2048],
    [256, 2048],
  ])('with %d GiB is an eighth of it, between 128 MiB and 2 GiB', (memoryGib, cacheMib) => {
    expect(choose(memoryGib)).toBe(cacheMib);
  });

  it.each([
    ['what the container may use, if that is less', 4 * GIB, 512],
    ['what the machine has, if Node says that the container has no limit', 2 ** 64, 1024],
  ])('counts %s', (_, limitBytes, cacheMib) => {
    expect(choose(8, { limitBytes })).toBe(cacheMib);
  });

  it('is the least where the system promises no more memory than it has', () => {
    expect(choose(64, { isStrict: true })).toBe(128);
  });
});
