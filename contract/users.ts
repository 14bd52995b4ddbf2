import { z } from 'zod';
import { double, idText, int32, wireInstant, wireText } from './fields';
import { pageQuery } from './pagination';
import { notesInput, RISK_LEVELS } from './sessions';

/** An LMS user that sessions are correlated with. */
export const userSchema = z
  .object({
    id: wireText('lms-4711'),
    name: wireText('Ada Lovelace'),
    email: wireText('ada@example.edu').nullable(),
    url: wireText('https://lms.example.edu/users/4711').nullable(),
    sessionCount: int32(18),
    botSessionCount: int32(2).describe('Sessions of the risk class `bot`.'),
    averageBotScore: double(0.21).nullable().describe('Mean over the scored sessions, 0 to 1.'),
    maxBotScore: double(0.93).nullable(),
    riskLevel: z
      .enum(RISK_LEVELS)
      .nullable()
      .describe('The riskiest class among the sessions; null when none is scored or labelled.'),
    deviceCount: int32(3).describe('Different device fingerprints.'),
    confirmedDeviceCount: int32(1),
    anomalyCount: int32(1),
    correlationConfidence: double(0.97).nullable().describe('Mean over the sessions, 0 to 1.'),
    firstSeenAt: wireInstant('2026-01-05T10:00:00.000Z').describe('Start of the first session.'),
    lastSeenAt: wireInstant().describe('Start of the latest session.'),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof userSchema>;

export const listUsersInput = z.object({ ...pageQuery });
export type ListUsersInput = z.infer<typeof listUsersInput>;

const userId = idText('lms-4711').describe('The LMS user’s id.');

export const userIdInput = z.object({ userId });

export const listUserSessionsInput = z.object({ userId, ...pageQuery });
export type ListUserSessionsInput = z.infer<typeof listUserSessionsInput>;

export const confirmDeviceInput = z.object({
  userId,
  fingerprint: idText('4be81f0c9a7d2210').describe('The device’s fingerprint.'),
  notes: notesInput.meta({ example: 'Her new laptop' }),
});
export type ConfirmDeviceInput = z.infer<typeof confirmDeviceInput>;

/** Takes a confirmation back. */
export const revokeDeviceInput = confirmDeviceInput.omit({ notes: true });
export type RevokeDeviceInput = z.infer<typeof revokeDeviceInput>;

/** Anomalies that a confirmed device no longer causes. */
export const SUPPRESSED_ANOMALY_TYPES = ['SharedDevice', 'DeviceSwitch'] as const;

/** A device that was confirmed as a user's own (specification: Device confirmation record). */
export const deviceConfirmationSchema = z
  .object({
    userId: wireText('lms-4711'),
    fingerprint: wireText('4be81f0c9a7d2210'),
    confirmedAt: wireInstant('2026-02-01T08:00:00.000Z').describe('The latest confirmation.'),
    firstConfirmedAt: wireInstant(),
    suppresses: z.array(z.enum(SUPPRESSED_ANOMALY_TYPES)).describe('Anomaly types that the pair no longer causes.'),
  })
  .meta({ id: 'DeviceConfirmation' });
export type DeviceConfirmation = z.infer<typeof deviceConfirmationSchema>;

/** A user's device, for staff: one that they had sessions on, that was confirmed, or both. */
export const userDeviceSchema = z.object({
  fingerprint: wireText('4be81f0c9a7d2210'),
  sessionCount: int32(12),
  lastSeenAt: wireInstant().nullable().describe('Start of the latest session that is kept.'),
  confirmedAt: wireInstant().nullable(),
  firstConfirmedAt: wireInstant().nullable(),
  confirmedBy: z.string().nullable().describe('The address of an account or a masked key; null if it is not known.'),
});
export type UserDevice = z.infer<typeof userDeviceSchema>;
