import { z } from 'zod';
import { unlessMissing } from './wording';

/** The smallest distance between the two thresholds, in hundredths. */
export const MIN_GAP = 5;

const cutPoint = (description: string, example: number) =>
  z
    .int({ error: unlessMissing('must be a whole number') })
    .min(0, 'must be between 0 and 100')
    .max(100, 'must be between 0 and 100')
    .meta({ type: 'integer', minimum: 0, maximum: 100, description, example });

const shape = {
  mediumAt: cutPoint('Hundredths of the score from which a session is `medium`, 0 to 100.', 40),
  botAt: cutPoint(`Hundredths of the score from which it is a \`bot\`: at least ${MIN_GAP} above mediumAt.`, 70),
};

/** The cut points of the risk classes (specification: Risk thresholds). */
export const riskThresholdsSchema = z.object(shape).meta({ id: 'RiskThresholds' });
export type RiskThresholds = z.infer<typeof riskThresholdsSchema>;

export const updateRiskThresholdsInput = z.object(shape).check((context) => {
  const { mediumAt, botAt } = context.value;
  if (botAt - mediumAt >= MIN_GAP) return;
  context.issues.push({
    code: 'custom',
    input: botAt,
    path: ['botAt'],
    message: `must be at least ${MIN_GAP} above mediumAt`,
  });
});
