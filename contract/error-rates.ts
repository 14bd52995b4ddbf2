import { z } from 'zod';

// How often the score is wrong, estimated from labels (docs/error-rates.md). For staff; no route of the public API shows it.

/** The most sessions of a day that can be drawn for review. */
export const MAX_SAMPLE_SIZE = 200;
/** Sessions of so many days are estimated from, or of as many as the plan keeps. */
export const RATE_DAYS = 90;
/** Of fewer verdicts, no rate is shown. */
export const MIN_VERDICTS = 10;

/** The most labels of a kind that are counted: the latest ones. */
export const MAX_RATE_LABELS = 10_000;

const share = z.number().describe('From 0 to 1.');

/** An estimated share and its 95 % interval. */
export const rateSchema = z.object({
  low: share,
  high: share,
  estimate: share.describe('Of the sessions with a verdict.'),
  of: z.number().describe('How many verdicts it is a share of.'),
});
export type ErrorRate = z.infer<typeof rateSchema>;

/** The rates if sessions were called bot from a cut point on. Null: too few verdicts. */
export const cutRatesSchema = z.object({
  falsePositives: rateSchema.nullable().describe('The share of sessions of people that would be called bot.'),
  precision: rateSchema.nullable().describe('The share of bots among the sessions that would be called bot.'),
  recall: rateSchema
    .nullable()
    .describe('The share of bots that would be called bot. Null of chosen labels, which say nothing about it.'),
});
export type CutRates = z.infer<typeof cutRatesSchema>;

const ratesByCut = z.array(cutRatesSchema).describe('For each cut point, 0 to 100.');

/** The rates by the random sample, in which each session of the counted days was equally likely to be. */
export const sampleRatesSchema = z.object({
  days: z.number().describe('UTC days that count.'),
  population: z.number().describe('Scored sessions of these days.'),
  humans: z.number(),
  bots: z.number(),
  skipped: z.number().describe('Sessions without a verdict. They count as whatever makes the interval wider.'),
  unblinded: z.number().describe('Labels that were given elsewhere, where the score is in sight.'),
  setAside: z.number().describe('Verdicts that do not count, so that all days have the same share of their sessions.'),
  waiting: z.number().describe('Drawn sessions that wait for a verdict on the page Review.'),
  ratesByCut,
});
export type SampleRates = z.infer<typeof sampleRatesSchema>;

/** The rates by all labels. Reviewers chose what they labelled. */
export const labelRatesSchema = z.object({ humans: z.number(), bots: z.number(), ratesByCut });
export type LabelRates = z.infer<typeof labelRatesSchema>;

export const errorRatesSchema = z.object({
  sampleSize: z.number().describe('Sessions drawn for review each UTC day. 0: none.'),
  days: z.number().describe('How far back sessions are estimated from.'),
  sample: sampleRatesSchema,
  labels: labelRatesSchema,
});
export type ErrorRates = z.infer<typeof errorRatesSchema>;

const SIZE_RULE = `must be a whole number from 0 to ${MAX_SAMPLE_SIZE}`;
export const reviewSampleSchema = z.object({
  sampleSize: z.int({ error: SIZE_RULE }).min(0, SIZE_RULE).max(MAX_SAMPLE_SIZE, SIZE_RULE),
});
export type ReviewSample = z.infer<typeof reviewSampleSchema>;
