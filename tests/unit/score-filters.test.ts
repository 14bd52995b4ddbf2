import { describe, expect, it } from 'vitest';
import { showScoreBound, writeScoreBound } from '../../app/dashboard/[integrationId]/sessions/session-filters';
import { showScore } from '../../app/dashboard/components/score-bar';
import { computeScoreBin } from '../../server/domain/risk';

describe('a score', () => {
  it('is shown as the number that its class follows from, also just below a cut point', () => {
    const scores = Array.from({ length: 101 }, (_, n) => [n / 100, n / 100 - 2e-16, n / 100 - 1e-10]).flat();
    for (const score of scores.filter((one) => one >= 0))
      expect([score, showScore(score)]).toEqual([score, String(computeScoreBin(score))]);
  });
});

describe('a filter of scores', () => {
  it('has exactly the sessions whose scores are shown as from and to', () => {
    const scores = [...Array.from({ length: 1001 }, (_, n) => n / 1000), 0.3999999995, 0.6999999999];
    for (let from = 0; from <= 100; from++) {
      const to = Math.min(100, from + 3);
      const [low, high] = [writeScoreBound('minBotScore', `${from}`), writeScoreBound('maxBotScore', `${to}`)].map(
        Number,
      );
      const listed = scores.filter((score) => score >= low! && score <= high!);
      const shown = scores.filter((score) => Number(showScore(score)) >= from && Number(showScore(score)) <= to);
      expect(listed).toEqual(shown);
    }
  });

  it('shows what was typed, and what a link says without rounding it up', () => {
    for (let typed = 0; typed <= 100; typed++)
      for (const param of ['minBotScore', 'maxBotScore'] as const)
        expect(showScoreBound(writeScoreBound(param, `${typed}`)!)).toBe(`${typed}`);
    expect(showScoreBound('0.695')).toBe('69');
  });

  it('takes whole numbers from 0 to 100, and is none without one', () => {
    expect(['-5', '150', '12.7'].map((typed) => writeScoreBound('minBotScore', typed))).toEqual(['0', '1', '0.12']);
    expect(writeScoreBound('maxBotScore', '150')).toBe('1');
    expect(writeScoreBound('maxBotScore', '')).toBe(null);
  });
});
