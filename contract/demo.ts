import type { Finding } from './evidence';
import type { RiskLevel } from './sessions';

/** What the demo page is told about the session of its tab (`POST /demo/verdict`). */
export interface DemoVerdict {
  /** Null until the first batch is judged. */
  session: DemoSession | null;
}

export interface DemoSession {
  id: string;
  startedAt: string;
  /** Null while the session is open. */
  closedAt: string | null;
  /** Null before the first score. */
  riskLevel: RiskLevel | null;
  botScore: number | null;
  ruleSetVersion: string | null;
  scoredAt: string | null;
  findings: Finding[];
  /** What the server keeps of it: batches, the events in them (null: too many to count), and the bytes that they take. */
  kept: { batches: number; events: number | null; bytes: number };
  /** Null if BotDetected did not fire. */
  botDetected: { firedAt: string; deliveries: number } | null;
  /** The path of the session's page in the dashboard. */
  dashboardPath: string;
}

/** The nonce of a tab's session, which the pixel keeps: only the page itself can read it. */
export const DEMO_NONCE = /^[0-9a-f]{32}$/;
