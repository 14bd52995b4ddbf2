import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RULE_SET_VERSION, scoreTrace } from '../../../server/detection/score';
import { AGENTS, imitate, PEOPLE, RECORDED_HUMAN, SyntheticTask } from '../../support/synthetic-sessions';
import { buildTrace } from '../../support/trace';

// A version of the rules gives the same bytes for the same trace, also after a change of how they are computed.

const KEPT = 'tests/vectors/judgements.json';
const MANNERS = { ...AGENTS, ...PEOPLE, 'recorded human': RECORDED_HUMAN };
const TASK_MS = 60_000;

function listTraces() {
  const single = Object.entries(MANNERS).map(([name, manner]) => ({ name, trace: imitate(manner) }));
  const all = Object.values(MANNERS).map((manner, i) =>
    new SyntheticTask(manner, i + 1, i.toString(16).padStart(16, 'a'), i * TASK_MS).run(),
  );
  return [...single, { name: 'all of them, one after the other', trace: buildTrace(all) }];
}

it('the judgements of a rule set version never change', async () => {
  const judgements = Object.fromEntries(
    listTraces().map(({ name, trace }) => {
      const judgement = scoreTrace(trace);
      const sha256 = createHash('sha256').update(JSON.stringify(judgement)).digest('hex');
      return [name, { botScore: judgement.botScore, flags: judgement.detectionFlags.join(), sha256 }];
    }),
  );
  const now = { ruleSetVersion: RULE_SET_VERSION, judgements };
  const kept = JSON.parse(readFileSync(KEPT, 'utf8'));
  // Other judgements need another version in server/detection/rules/table.ts. Then vitest -u writes the file again.
  if (kept.ruleSetVersion === RULE_SET_VERSION) expect(now).toEqual(kept);
  await expect(`${JSON.stringify(now, null, 2)}\n`).toMatchFileSnapshot('../../vectors/judgements.json');
});
