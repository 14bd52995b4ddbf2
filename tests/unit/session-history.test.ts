import { describe, expect, it } from 'vitest';
import { MAX_HISTORY_STEPS } from '../../contract/session-history';
import { buildHistory, type HistoryRow } from '../../server/domain/session-history';

const NOTHING = {
  ...{ botScore: null, ruleSetVersion: null, mediumAt: null, botAt: null, before: null, label: null },
  ...{ confidence: null, reasons: null, notes: null, actorKind: null, actorName: null },
};
const at = (minute: number) => new Date(Date.UTC(2026, 10, 3, 0, minute)).toISOString();
const row = (minute: number, cause: HistoryRow['cause'], fields: Partial<HistoryRow> = {}): HistoryRow => ({
  ...{ ...NOTHING, at: at(minute), cause },
  ...fields,
});
const began = row(0, 'Began', { mediumAt: 30, botAt: 60 });
const scored = (minute: number, botScore: number) => row(minute, 'Scored', { botScore, ruleSetVersion: '2026.1' });
const moved = (minute: number, before: [number, number], after: [number, number]) =>
  row(minute, 'ThresholdsChanged', {
    ...{ before: { mediumAt: before[0], botAt: before[1] }, mediumAt: after[0], botAt: after[1] },
  });
const labeled = (minute: number, label: 1 | -1 | null, fields: Partial<HistoryRow> = {}) =>
  row(minute, label === null ? 'LabelRemoved' : 'Labeled', {
    ...{
      label,
      actorKind: 'Staff',
      actorName: 'ada@example.com',
      reasons: [],
      mediumAt: 30,
      botAt: 60,
      botScore: 0.65,
    },
    ...fields,
  });
const classesOf = (rows: HistoryRow[]) => buildHistory(rows).steps.map(({ riskLevel }) => riskLevel);

describe('the history of a session', () => {
  it('says the class after each score, change of thresholds and label', () => {
    const rows = [
      ...[began, scored(1, 0.65), moved(2, [40, 70], [30, 60]), labeled(3, -1), scored(4, 0.9), labeled(5, null)],
    ];
    expect(classesOf(rows)).toEqual([null, 'medium', 'bot', 'human', 'human', 'bot']);
    const { steps } = buildHistory(rows);
    expect(steps[1]).toMatchObject({
      botScore: 0.65,
      ruleSetVersion: '2026.1',
      mediumAt: 40,
      botAt: 70,
      labeledBy: null,
    });
    expect(steps[2]).toMatchObject({ botScore: 0.65, mediumAt: 30, botAt: 60 });
    expect(steps[3]).toMatchObject({ verdict: 'human', labeledBy: { kind: 'Staff', name: 'ada@example.com' } });
    expect(steps.map(({ verdict }) => verdict)).toEqual([null, null, null, 'human', 'human', null]);
  });

  it('takes the present thresholds if they were never changed, and those before the first change for the time before', () => {
    expect(classesOf([began, scored(1, 0.65)])).toEqual([null, 'bot']);
    expect(classesOf([began, scored(1, 0.65), moved(2, [70, 80], [30, 60])])).toEqual([null, 'human', 'bot']);
  });

  it('shows of a verdict what its author saw, and computes it where nobody wrote it down', () => {
    const late = { botScore: 0.2, ruleSetVersion: 'old', mediumAt: 10, botAt: 20 };
    const { steps } = buildHistory([
      began,
      scored(1, 0.65),
      labeled(2, 1, late),
      labeled(3, 1, { mediumAt: null, botAt: null }),
    ]);
    expect(steps[2]).toMatchObject(late);
    expect(steps[3]).toMatchObject({ mediumAt: 30, botAt: 60 });
  });

  it('begins with the session, also if a pipeline gave an earlier time to a score', () => {
    const { steps } = buildHistory([scored(-1, 0.1), began]);
    expect(steps.map(({ cause }) => cause)).toEqual(['Began', 'Scored']);
  });

  it('is bounded to the newest steps, whose state is still right', () => {
    const many = Array.from({ length: MAX_HISTORY_STEPS + 1 }, (_, n) => labeled(10 + n, n % 2 ? 1 : -1));
    const { steps, isComplete } = buildHistory([began, scored(1, 0.65), ...many]);
    expect([steps.length, isComplete]).toEqual([MAX_HISTORY_STEPS, false]);
    expect(steps.at(-1)).toMatchObject({ at: many.at(-1)!.at, riskLevel: 'human' });
    expect(buildHistory([began, scored(1, 0.65)]).isComplete).toBe(true);
  });
});
