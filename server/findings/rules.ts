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

/** Everything that can be switched off for an integration. */
export const RULE_DESCRIPTIONS: readonly RuleDescription[] = [INFERRED_USER, ...ANOMALY_RULES];
