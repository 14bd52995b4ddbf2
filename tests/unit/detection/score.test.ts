import { describe, expect, it } from 'vitest';
import { scoreTrace } from '../../../server/detection/score';
import { AGENTS, imitate, PEOPLE, RECORDED_HUMAN } from '../../support/synthetic-sessions';

const SEEDS = [1, 2, 3, 4, 5];
const MEDIUM = 0.4;
const BOT = 0.7;
const scoresOf = (manner: (typeof PEOPLE)[string]) => SEEDS.map((seed) => scoreTrace(imitate(manner, seed)));

describe('a synthetic program', () => {
  it.each(Object.keys(AGENTS).filter((name) => name !== 'script in the page'))('is a bot: %s', (name) => {
    for (const { botScore, detectionFlags } of scoresOf(AGENTS[name]!)) {
      expect([botScore >= BOT, detectionFlags]).toEqual([true, detectionFlags]);
    }
  });

  it('is missed if it replays a recorded person, and known as such', () => {
    for (const { botScore } of scoresOf(RECORDED_HUMAN)) expect(botScore).toBeLessThan(MEDIUM);
  });
});

describe('a synthetic person', () => {
  it.each(Object.keys(PEOPLE))('is no bot: %s', (name) => {
    for (const { botScore, detectionFlags } of scoresOf(PEOPLE[name]!)) {
      expect([botScore < MEDIUM, detectionFlags]).toEqual([true, detectionFlags]);
    }
  });
});
