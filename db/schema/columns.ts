import { customType, timestamp } from 'drizzle-orm/pg-core';

/** An identifier. Collated bytewise, so that keyset order does not depend on the machine's locale. */
export const identifier = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });

/** Raw bytes. */
export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** An instant in milliseconds, read as an ISO 8601 string in UTC, which a JS Date and a cursor hold without loss. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' });

/** The status of an anomaly or an alert, from what staff did with it. */
export const INCIDENT_STATUS = `(case when resolved_at is not null then 'Resolved' when acknowledged_at is not null then 'Acknowledged' else 'Open' end)`;
