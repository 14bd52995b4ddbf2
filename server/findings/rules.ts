import { agentTakeoverRule } from './agent-takeover';
import { concurrentSessionsRule } from './concurrent-sessions';
import { deviceSwitchRule } from './device-switch';
import { impossibleTravelRule } from './impossible-travel';
import { INFERRED_USER } from './inferred-user';
import type { AnomalyRule, RuleDescription } from './rule';
import { sharedDeviceRule } from './shared-device';
import { userSwitchRule } from './user-switch';

/** The rules on what does not fit together. */
export const ANOMALY_RULES: readonly AnomalyRule[] = [
  sharedDeviceRule,
  deviceSwitchRule,
  userSwitchRule,
  impossibleTravelRule,
  concurrentSessionsRule,
  agentTakeoverRule,
];

/** The collector scores texts; here they have their switch. */
const WRITING_SCORE: RuleDescription<'WritingSessionScored'> = {
  name: 'WritingSessionScored',
  definition:
    'When a session closes, each text of a writing field with at least 300 new characters gets a score of how it came about.',
  parameters: [],
  severity: 'none: it is a score, not an anomaly',
  metadata: [],
  innocent: ['people who paste their own notes', 'people who copy their own draft from paper'],
};

/** Everything that can be switched off for an integration. */
export const RULE_DESCRIPTIONS: readonly RuleDescription[] = [INFERRED_USER, ...ANOMALY_RULES, WRITING_SCORE];
