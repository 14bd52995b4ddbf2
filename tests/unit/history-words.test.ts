import { describe, expect, it } from 'vitest';
import { describeStep, explainClass } from '../../app/dashboard/[integrationId]/sessions/history-words';
import type { HistoryStep } from '../../contract/session-history';

const step = (fields: Partial<HistoryStep>): HistoryStep => ({
  ...{
    at: '2026-11-03T10:00:00.000Z',
    cause: 'Scored',
    riskLevel: 'medium',
    verdict: null,
    confidence: null,
    reasons: [],
  },
  ...{ notes: null, labeledBy: null, botScore: 0.65, ruleSetVersion: '2026.1', mediumAt: 40, botAt: 70 },
  ...fields,
});
const by = (name: string | null, kind: 'Staff' | 'Operator' = 'Staff') => ({ kind, name });
const labeled = (fields: Partial<HistoryStep>) =>
  step({ cause: 'Labeled', riskLevel: 'bot', verdict: 'bot', labeledBy: by('ada@example.com'), ...fields });
const explain = (steps: HistoryStep[], at: string, isComplete = true) =>
  explainClass({ steps, isComplete }, at, (iso) => iso.slice(0, 10));

describe('describeStep', () => {
  it.each([
    [step({ cause: 'Began', botScore: null, riskLevel: null }), 'The session began.'],
    [step({}), 'Scored 65 of 100.'],
    [
      step({ cause: 'ThresholdsChanged', mediumAt: 30, botAt: 60 }),
      'The thresholds changed: medium from 30, bot from 60.',
    ],
    [
      labeled({ reasons: ['TooFast', 'AutomationTool'], confidence: 'high' }),
      'ada@example.com labelled it bot, high confidence: too fast, automation tool.',
    ],
    [labeled({ cause: 'LabelUndone' }), 'ada@example.com undid the label: bot again.'],
    [labeled({ cause: 'LabelUndone', verdict: null, labeledBy: by(null) }), 'somebody undid the label.'],
    [
      labeled({ cause: 'LabelRemoved', verdict: null, labeledBy: by(null, 'Operator') }),
      'the command line removed the label.',
    ],
  ])('%j', (given, sentence) => expect(describeStep(given, undefined)).toBe(sentence));

  it('tells reasons that follow a label from a new label', () => {
    const reasons = ['TooFast'] as const;
    expect(describeStep(labeled({ reasons: [...reasons] }), labeled({}))).toBe('ada@example.com said why: too fast.');
    expect(describeStep(labeled({}), labeled({ labeledBy: by('ben@example.com') }))).toBe(
      'ada@example.com labelled it bot.',
    );
    expect(describeStep(labeled({}), labeled({ verdict: 'human' }))).toBe('ada@example.com labelled it bot.');
  });
});

describe('explainClass', () => {
  const at = (day: number) => `2026-11-0${day}T10:00:00.000Z`;
  const steps = [
    step({ at: at(1), cause: 'Began', botScore: null, riskLevel: null }),
    step({ at: at(2) }),
    labeled({ at: at(3), reasons: ['TooFast'] }),
    step({ at: at(4), cause: 'ThresholdsChanged', verdict: 'bot', riskLevel: 'bot', botScore: 0.65 }),
    labeled({ at: at(5), cause: 'LabelRemoved', verdict: null, riskLevel: 'bot', mediumAt: 30, botAt: 60 }),
  ];

  it.each([
    [1, null, 'It had no score and no label.'],
    [2, 'medium', 'Its score was 65 of 100, medium began at 40 and bot at 70.'],
    [3, 'bot', 'ada@example.com labelled it bot on 2026-11-03: too fast. Its score was 65 of 100.'],
    [4, 'bot', 'ada@example.com labelled it bot on 2026-11-03: too fast. Its score was 65 of 100.'],
    [5, 'bot', 'Its score was 65 of 100, and bot began at 60.'],
    [9, 'bot', 'Its score was 65 of 100, and bot began at 60.'],
  ])('on 2026-11-0%i', (day, riskLevel, because) =>
    expect(explain(steps, at(day))).toMatchObject({ riskLevel, because }),
  );

  it('knows nothing of the time before the first step', () => {
    expect(explain(steps, '2026-10-31T00:00:00.000Z').because).toBe('The session had not begun.');
    expect(explain(steps, '2026-10-31T00:00:00.000Z', false).because).toContain('older than the steps');
  });
});
