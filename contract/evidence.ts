import { z } from 'zod';
import { double, instantText, isStorableText, text, wireInstant, wireText } from './fields';

/** Groups of findings. Within a group the strongest finding counts most (docs/detection.md). */
export const FINDING_GROUPS = ['environment', 'integrity', 'pointer', 'typing', 'flow', 'network', 'context'] as const;
export const FINDING_STATES = ['found', 'notFound', 'notMeasured'] as const;

export const MAX_EVIDENCE_BYTES = 16 * 1024;
const MAX_FINDINGS = 100;
const MAX_MOMENTS = 20;
/** The most scores of a session that are answered. */
export const MAX_SHOWN_SCORES = 500;
/** The most findings in the details of a session. */
export const MAX_SUMMARY_FINDINGS = 10;

/** What one rule says of a session. */
export const findingSchema = z
  .object({
    flag: wireText('zero-pressure').describe('The name of the rule. `detectionFlags` has those that were found.'),
    group: z.enum(FINDING_GROUPS).describe('Findings of one group support each other little.'),
    state: z
      .enum(FINDING_STATES)
      .describe('`notMeasured`: the session had too little for the rule, or the rule does not apply to it.'),
    measured: z
      .union([z.number(), z.string()])
      .nullable()
      .describe('The value that the rule measured: a number or text.')
      .meta({ example: 0.97 }),
    expected: wireText('below 0.5').nullable().describe('The usual range, in words.'),
    weight: double(2.5).describe('How much the finding counts in the score; 0 for evidence that never counts.'),
    moments: z.array(wireInstant()).describe('When it was seen, the first few moments.'),
  })
  .meta({ id: 'Finding' });
export type Finding = z.infer<typeof findingSchema>;

/** What the rules found, in short: part of a session's details. */
export const evidenceSummarySchema = z
  .object({
    ruleSetVersion: wireText('2026.1').nullable().describe('The version of the rules; null if the score names none.'),
    scoredAt: wireInstant().describe('When the score was given that the findings explain.'),
    findings: z
      .array(findingSchema.omit({ state: true, moments: true }).meta({ id: 'FindingSummary' }))
      .describe(
        `What was found, that which counts most first: at most ${MAX_SUMMARY_FINDINGS}. The evidence has all findings.`,
      ),
  })
  .meta({ id: 'EvidenceSummary' });
export type EvidenceSummary = z.infer<typeof evidenceSummarySchema>;

/** Minus zero is stored as zero: a fact that is sent again must equal what is stored. */
const finite = () => z.number().transform((value) => value + 0);

/** The findings that a fact brings with a score: bounded, because a customer's pipeline may send them too. */
export const evidenceInput = z
  .array(
    findingSchema.extend({
      flag: text(1, 256),
      measured: z.union([finite(), text(0, 256)]).nullable(),
      expected: text(0, 256).nullable(),
      weight: finite(),
      moments: z.array(instantText()).max(MAX_MOMENTS),
    }),
  )
  .max(MAX_FINDINGS)
  .refine((findings) => isStorableText(JSON.stringify(findings)), 'holds what cannot be stored')
  .refine(
    (findings) => new TextEncoder().encode(JSON.stringify(findings)).length <= MAX_EVIDENCE_BYTES,
    `must have at most ${MAX_EVIDENCE_BYTES} bytes as JSON`,
  );

/** The most parts of a session that a score brings. */
export const MAX_SEGMENTS = 120;

/** How a part of a session looks by itself: one in which a rule on behaviour could measure something. */
export const scoredSegmentInput = z.object({
  startedAt: instantText(),
  /** The log odds that a program acted, not a person. */
  logOdds: finite(),
});
export type ScoredSegment = z.output<typeof scoredSegmentInput>;

/** Why a session has its score (`GET /v1/sessions/{sessionId}/evidence`). */
export const sessionEvidenceSchema = z
  .object({
    sessionId: wireText('ses_5Hk2mQ'),
    botScore: double(0.93).nullable().describe('The latest score; null before scoring.'),
    ruleSetVersion: wireText('2026.1').nullable().describe('The version of the rules; null if the score names none.'),
    scoredAt: wireInstant().nullable(),
    findings: z
      .array(findingSchema)
      .describe('What the rules say, those that count most first. Empty if the score has none.'),
    scores: z
      .array(
        z.object({
          scoredAt: wireInstant(),
          botScore: double(0.93),
          detectionFlags: z.array(wireText('zero-pressure')),
        }),
      )
      .describe(`The scores of the session, oldest first: the latest ${MAX_SHOWN_SCORES}.`),
  })
  .meta({ id: 'SessionEvidence' });
export type SessionEvidence = z.infer<typeof sessionEvidenceSchema>;
