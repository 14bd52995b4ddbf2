import { describe, expect, it } from 'vitest';
import { digestDeeds, digestTrace } from '../../../server/detection/digests';
import { type Features, mergeFeatures, sumUpDeeds } from '../../../server/detection/features';
import { PEOPLE_GROUPS, type PeopleGroup } from '../../../server/detection/rules/people';
import { RULES } from '../../../server/detection/rules/table';
import { scoreTrace } from '../../../server/detection/score';
import { readTrace } from '../../../server/detection/segments';
import type { Trace } from '../../../server/detection/trace';
import { PEOPLE_MARKS } from '../../support/people';
import { AGENTS, imitate, PEOPLE } from '../../support/synthetic-sessions';

// False accusation is the worst fault that this product can have. What a rule reads is observed, not declared: a rule that
// reads what a group of people changes must exempt the group, or say why it may also flag it.

const SEEDS = [1, 2, 3, 4, 5];
const BOT = 0.7;
/** On Linux the times of devices are whole milliseconds. */
const DEVICES = { clockStepMs: 1 };
const GROUPS = Object.keys(PEOPLE_GROUPS) as PeopleGroup[];
const MANNERS = [...Object.values(AGENTS), ...Object.values(PEOPLE), ...GROUPS.flatMap((g) => PEOPLE_MARKS[g].manners)];

const readFeatures = (trace: Trace): Features => {
  const { segments, telemetry } = readTrace(trace);
  const parts = segments.map(({ deeds }) => sumUpDeeds({ userAgent: trace.userAgent }, deeds));
  return { ...parts.reduce(mergeFeatures), telemetry, isReplay: false };
};

/** Lets a value be read as it is, and notes the path of everything that is read. */
function observe<Value>(value: Value, path: string, seen: Set<string>): Value {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return new Proxy(value, {
    get(target, name, receiver) {
      const part: unknown = Reflect.get(target, name, receiver);
      if (typeof name === 'symbol' || typeof part === 'function') return part;
      if (Array.isArray(target) ? name === 'length' : name === 'atMs') return part;
      const isPlace = Array.isArray(target) || name === 'thing';
      const more = isPlace ? path : path === '' ? name : `${path}.${name}`;
      seen.add(more);
      return observe(part, more, seen);
    },
  }) as Value;
}

/** The paths that each rule reads, over all synthetic sessions. */
const readBy = new Map(RULES.map(({ rule }) => [rule.flag, new Set<string>()]));
for (const manner of MANNERS) {
  const trace = imitate({ network: 3_320, ...manner });
  const features = readFeatures(trace);
  for (const { rule } of RULES) rule.judge(observe(features, '', readBy.get(rule.flag)!));
  // What this rule reads is a fact about digests.
  const segments = readTrace(trace).segments.map(({ deeds }) => deeds);
  digestDeeds(observe(segments, '', readBy.get('replayed-trace')!), features);
}

const listTouching = (flag: string) =>
  GROUPS.filter((group) => PEOPLE_MARKS[group].changes.some((path) => readBy.get(flag)!.has(path)));

describe('what rules read', () => {
  it('is observed', () => {
    expect(readBy.get('zero-pressure')).toEqual(
      new Set([
        ...['assistedCount', 'drivenCount', 'userAgent', 'environments', 'environments.h'],
        ...['mousePresses', 'simulatedPresses'].flatMap((presses) => [
          ...[presses, `${presses}.pressureless`, `${presses}.pressureless.count`],
          ...[`${presses}.pressureless.marked`, `${presses}.pressureless.momentsMs`],
        ]),
      ]),
    );
    expect([...readBy.get('instant-keys')!]).toContain('keyHolds.times');
    expect([...readBy.get('devtools-protocol')!]).toContain('environments.q');
  });

  it('is known for everything that a group of people changes', () => {
    const read = new Set([...readBy.values()].flatMap((paths) => [...paths]));
    const changed = new Set(GROUPS.flatMap((group) => PEOPLE_MARKS[group].changes));
    expect([...changed].filter((path) => !read.has(path))).toEqual([]);
  });
});

describe.each(RULES)('$rule.flag', ({ rule, weight }) => {
  it('exempts each group that changes what it reads, or says why it may also flag it', () => {
    const stated = [...Object.keys(rule.exempts), ...Object.keys(rule.touches)].sort();
    expect(stated).toEqual(listTouching(rule.flag).sort());
    for (const words of [...Object.values(rule.exempts), ...Object.values(rule.touches)])
      expect(words.length).toBeGreaterThan(8);
  });

  it('says what it sees and needs, and what it means in two sentences', () => {
    expect(rule.sees).toMatch(/\.$/);
    expect(rule.needs.length).toBeGreaterThan(5);
    expect(rule.plainly.match(/[.](?= |$)/g)).toHaveLength(2);
  });

  it('never decides alone on people that it touches', () => {
    const alone = 1 / (1 + Math.exp(3.5 - weight));
    if (Object.keys(rule.touches).length > 0) expect(alone).toBeLessThan(0.4);
  });
});

describe.each(GROUPS)('%s', (group) => {
  const { changes, manners } = PEOPLE_MARKS[group];
  const judgements = manners.flatMap((manner) =>
    SEEDS.map((seed) => scoreTrace(imitate({ ...DEVICES, ...manner }, seed))),
  );
  const found = new Set(
    judgements.flatMap(({ findings }) => findings.filter(({ state }) => state === 'found').map(({ flag }) => flag)),
  );

  it('is accused by no rule but those that say why they may also flag it', () => {
    expect(changes.length).toBeGreaterThan(0);
    const declared = RULES.filter(({ rule }) => group in rule.touches).map(({ rule }) => rule.flag);
    expect([...found].sort()).toEqual(declared.sort());
  });

  it('never repeats the input of another person of the group', () => {
    const seen = new Set<bigint>();
    for (const manner of manners.slice(0, 1)) {
      for (let seed = 1; seed <= 60; seed++) {
        for (const digest of digestTrace(imitate({ ...DEVICES, ...manner }, seed))) {
          expect(seen.has(digest)).toBe(false);
          seen.add(digest);
        }
      }
    }
  });

  it('is never a bot, with everything that is found together', () => {
    expect(Math.max(...judgements.map(({ botScore }) => botScore))).toBeLessThan(BOT);
  });
});
