import { actThinkRule } from './act-think';
import { automationGlobalsRule } from './automation-globals';
import { capitalWithoutShiftRule } from './capital-without-shift';
import { clockInconsistentRule } from './clock-inconsistent';
import { datacenterNetworkRule } from './datacenter-network';
import { declaredAgentRule } from './declared-agent';
import { devtoolsProtocolRule } from './devtools-protocol';
import { exactCentreRule } from './exact-centre';
import { focusWithoutCauseRule } from './focus-without-cause';
import { fractionalCoordinatesRule } from './fractional-coordinates';
import { headlessRule } from './headless';
import { instantKeysRule } from './instant-keys';
import { instantPressRule } from './instant-press';
import { insufficientEvidenceRule } from './insufficient-evidence';
import { movementMismatchRule } from './movement-mismatch';
import { noApproachRule } from './no-approach';
import { offGridTimesRule } from './off-grid-times';
import { pageJumpsRule } from './page-jumps';
import { replayedTraceRule } from './replayed-trace';
import type { Rule } from './rule';
import { syntheticWindowRule } from './synthetic-window';
import { telemetryGapRule } from './telemetry-gap';
import { textWithoutKeysRule } from './text-without-keys';
import { uncoalescedMovesRule } from './uncoalesced-moves';
import { uniformTypingRule } from './uniform-typing';
import { untrustedEventsRule } from './untrusted-events';
import { webdriverRule } from './webdriver';
import { zeroPressureRule } from './zero-pressure';

/** The version of the rules and their weights. It rises with every change that can change a score. */
export const RULE_SET_VERSION = '2026.8';

export interface WeightedRule {
  rule: Rule;
  /** What the rule adds to the log odds when it is found and the strongest of its group. 0: evidence that never counts. */
  weight: number;
  /** Enough alone: only a program leaves such a mark. */
  isProof?: true;
}

/**
 * All rules with their weights. Those of proofs come from reasoning, the others from `npm run lab -- fit`, rounded
 * (docs/detection.md).
 */
export const RULES: readonly WeightedRule[] = [
  { rule: webdriverRule, weight: 7, isProof: true },
  { rule: headlessRule, weight: 3 },
  { rule: automationGlobalsRule, weight: 7, isProof: true },
  { rule: devtoolsProtocolRule, weight: 1.8 },
  { rule: syntheticWindowRule, weight: 1.2 },
  { rule: declaredAgentRule, weight: 7, isProof: true },
  { rule: untrustedEventsRule, weight: 2 },
  { rule: zeroPressureRule, weight: 4.1 },
  { rule: fractionalCoordinatesRule, weight: 3.1 },
  { rule: movementMismatchRule, weight: 1.5 },
  { rule: capitalWithoutShiftRule, weight: 2.2 },
  { rule: replayedTraceRule, weight: 2.5 },
  { rule: noApproachRule, weight: 1.5 },
  { rule: exactCentreRule, weight: 2 },
  { rule: instantPressRule, weight: 1.5 },
  { rule: uncoalescedMovesRule, weight: 0.2 },
  { rule: instantKeysRule, weight: 2.5 },
  { rule: uniformTypingRule, weight: 2 },
  { rule: textWithoutKeysRule, weight: 1.5 },
  { rule: focusWithoutCauseRule, weight: 1 },
  { rule: pageJumpsRule, weight: 0.3 },
  { rule: actThinkRule, weight: 0.3 },
  { rule: datacenterNetworkRule, weight: 0.8 },
  { rule: telemetryGapRule, weight: 0 },
  { rule: clockInconsistentRule, weight: 0 },
  { rule: insufficientEvidenceRule, weight: 0 },
  { rule: offGridTimesRule, weight: 0 },
];
