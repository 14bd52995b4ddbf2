import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createChance } from '../../lab/people/chance';
import { type Deed, writeScript } from '../../lab/people/devices';
import { COVERAGE, OTHERS } from '../../lab/people/groups';
import { planReach } from '../../lab/people/reaching';
import { drawTraits } from '../../lab/people/traits';
import { planTyping } from '../../lab/people/typing';
import { loadSubjects } from '../../lab/subjects';

const SEEDS = Array.from({ length: 40 }, (_, i) => i + 1);
const TEXT = 'Anna held the Last note, and Peter closed the book. It was 10 at night.';
const NAMES: Record<string, string> = { space: ' ', period: '.', comma: ',' };

/** What a keyboard writes while these keys go down and up. */
function write(deeds: readonly Deed[]): string {
  const held = new Set<string>();
  let text = '';
  for (const deed of [...deeds].sort((a, b) => a.atMs - b.atMs)) {
    if (deed.do === 'keyUp') {
      expect(held.delete(deed.key), `${deed.key} was not down`).toBe(true);
    } else if (deed.do === 'keyDown') {
      expect(held.has(deed.key), `${deed.key} is down`).toBe(false);
      held.add(deed.key);
      if (deed.key.startsWith('Shift')) continue;
      const character = NAMES[deed.key] ?? deed.key;
      const isShifted = held.has('Shift_L') || held.has('Shift_R');
      text = deed.key === 'BackSpace' ? text.slice(0, -1) : text + (isShifted ? character.toUpperCase() : character);
    }
  }
  expect([...held]).toEqual([]);
  return text;
}

describe('a person of the laboratory', () => {
  it.each(SEEDS)('writes the text, corrected, with each key up before it is down again: seed %i', (seed) => {
    expect(write(planTyping(TEXT, drawTraits(seed), createChance(seed)))).toBe(TEXT);
  });

  it('is the same for the same seed, and another one for another seed', () => {
    expect(drawTraits(7)).toEqual(drawTraits(7));
    expect(new Set(SEEDS.map((seed) => drawTraits(seed).intervalMs)).size).toBeGreaterThan(30);
  });

  it('types as fast as the people of the study: 239 ± 112 ms between keys', () => {
    const people = Array.from({ length: 400 }, (_, seed) => drawTraits(seed + 1).intervalMs);
    const mean = people.reduce((sum, ms) => sum + ms, 0) / people.length;
    expect(mean).toBeGreaterThan(200);
    expect(mean).toBeLessThan(280);
  });

  it.each(SEEDS)('reaches its target by moves that go on in time: seed %i', (seed) => {
    const way = planReach({ x: 30, y: 20 }, { x: 800, y: 400 }, 20, drawTraits(seed), createChance(seed));
    const last = way.at(-1)!;
    expect(Math.hypot(last.x - 800, last.y - 400)).toBeLessThan(3);
    expect(way.length).toBeGreaterThan(10);
    for (const [index, { atMs }] of way.entries()) expect(atMs).toBeGreaterThanOrEqual(way[index - 1]?.atMs ?? 0);
  });

  it('gives its deeds to the X server in the order of their times', () => {
    const press = { atMs: 30, do: 'press', button: 1 } as const;
    expect(writeScript([press, { atMs: 10, do: 'move', x: 4, y: 5 }])).toEqual([
      ...['sleep 0.0100', 'mousemove 4 5', 'sleep 0.0200', 'mousedown 1'],
    ]);
  });
});

describe('the groups of people that rules must not accuse', () => {
  it('each have controls with real input, or words for why not; and each control stands for one', async () => {
    const controls = (await loadSubjects()).filter(({ kind }) => kind === 'control');
    expect(controls.length).toBeGreaterThanOrEqual(10);
    const real = new Set(controls.filter(({ input }) => input === 'real').map(({ family }) => family));
    const named = [...OTHERS, ...Object.values(COVERAGE).flatMap(({ families }) => families)];
    expect([...new Set(named)].sort()).toEqual([...real].sort());
    for (const { name, family } of controls) expect([name, named.includes(family)]).toEqual([name, true]);
    for (const [group, { families, unmeasured }] of Object.entries(COVERAGE))
      expect([group, families.length > 0 || unmeasured !== null]).toEqual([group, true]);
  });

  it('are in docs/detection.md with what is not measured', () => {
    const page = readFileSync('docs/detection.md', 'utf8').replace(/\s+/g, ' ');
    for (const { unmeasured } of Object.values(COVERAGE)) if (unmeasured) expect(page).toContain(unmeasured);
  });
});
