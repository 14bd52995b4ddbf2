import { boolean, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { StaffRole } from '../../contract/staff';
import { bytes, identifier, instant } from './columns';

// Employees of the platform: they belong to no integration.

/** Accounts of the dashboard. */
export const staff = pgTable('staff', {
  id: identifier('id').primaryKey(),
  /** In lower case. */
  email: text('email').notNull().unique(),
  name: text('name').notNull(),
  role: text('role').$type<StaffRole>().notNull(),
  /** scrypt, with its parameters and salt. */
  passwordHash: text('password_hash').notNull(),
  disabled: boolean('disabled').notNull().default(false),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** Signed-in sessions. Only a keyed hash of the token is stored. */
export const staffSessions = pgTable(
  'staff_sessions',
  {
    tokenHash: bytes('token_hash').primaryKey(),
    staffId: identifier('staff_id')
      .notNull()
      .references(() => staff.id),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Extended while the session is used, up to a limit counted from `createdAt`. */
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('staff_sessions_staff').on(table.staffId)],
);

/** Sign-in attempts by account and by client address, in windows of some minutes. */
export const signInWindows = pgTable(
  'sign_in_windows',
  {
    bucket: text('bucket').notNull(),
    windowStart: instant('window_start').notNull(),
    tries: integer('tries').notNull(),
  },
  (table) => [primaryKey({ columns: [table.bucket, table.windowStart] })],
);

/** Invitations to an account, or links to set the password of one. Only a keyed hash of the token is stored. */
export const staffInvitations = pgTable('staff_invitations', {
  tokenHash: bytes('token_hash').primaryKey(),
  /** In lower case. */
  email: text('email').notNull(),
  /** The account whose password the link sets. Null: the link creates an account. */
  staffId: identifier('staff_id').references(() => staff.id),
  name: text('name').notNull(),
  role: text('role').$type<StaffRole>().notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  createdBy: text('created_by'),
  expiresAt: instant('expires_at').notNull(),
});
