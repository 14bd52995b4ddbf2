import { z } from 'zod';
import { wireInstant } from './fields';

const row = z.record(z.string(), z.unknown());
const rows = (what: string) => z.array(row).describe(`${what} Each is a row as it is stored.`);

/** Everything that is held about a user. What is known of staff and keys is left out. */
export const userExportSchema = z.object({
  exportedAt: wireInstant(),
  user: row.nullable().describe('Id, name, email and address; null if no session names them.'),
  sessions: rows(
    'Sessions, with their events, scores, matches, verdicts and anomalies, and what the pixel said of the network.',
  ),
  matches: rows('Matches with sessions that count as another user’s: the user was there before, or was thought to be.'),
  devices: rows('Devices that were confirmed as theirs.'),
  anomalies: rows('Anomalies about them.'),
  writing: rows('Scores of what they wrote.'),
  alerts: rows('Alerts that mention them.'),
  webhookEvents: rows('Events about them or their sessions, with the payload that webhooks report.'),
  auditEntries: rows('Entries of the audit log that mention them.'),
});
