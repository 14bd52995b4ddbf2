import type { Severity } from '../../contract/events';
import type { AnomalyType, FindingRuleName } from '../../contract/findings';
import type { OutboxCause } from '../../db/schema';
import type { History, JudgedSession } from './history';

/** What people should know of a rule. docs/findings.md and the settings of the dashboard are written from it. */
export interface RuleDescription<Name extends FindingRuleName = FindingRuleName> {
  name: Name;
  definition: string;
  /** Numbers that the rule uses, with their units. */
  parameters: string[];
  severity: string;
  /** The fields of the anomaly's metadata. */
  metadata: string[];
  /** What else can be the reason. */
  innocent: string[];
}

/** A rule on what does not fit together. */
export interface AnomalyRule extends RuleDescription<AnomalyType> {
  /** The facts after which a session is judged. */
  causes: OutboxCause[];
  /** Finds what the session shows. Reads committed facts only, so that a repeat finds the same. */
  find(session: JudgedSession, history: History): Promise<FoundAnomaly[]>;
}

/** An anomaly, before it has an id. */
export interface FoundAnomaly {
  /** What the anomaly is one of: the rule reports each cause once. */
  cause: string[];
  severity: Severity;
  /** The time of a fact, so that a repeat has the same. */
  detectedAt: string;
  sessionId: string;
  /** Null: nobody vouches for who the session's user is. */
  userId: string | null;
  deviceFingerprint: string | null;
  metadata: Record<string, unknown>;
}
