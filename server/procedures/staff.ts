import { z } from 'zod';
import {
  createdStaffSchema,
  createStaffInput,
  revokedSessionsSchema,
  setStaffRoleInput,
  staffIdInput,
  staffListSchema,
  staffSchema,
} from '../../contract/staff';
import { createStaff, disableStaff, enableStaff, listStaff, revokeStaffSessions, setStaffRole } from '../auth/accounts';
import { adminProcedure, router, staffProcedure } from './trpc';

/** Accounts of the dashboard. Not part of the public API. */
export const staffRouter = router({
  /** Returns the account that is signed in. */
  me: staffProcedure.output(staffSchema).query(({ ctx }) => ctx.staff),
  list: adminProcedure.output(staffListSchema).query(({ ctx }) => listStaff(ctx.db)),
  create: adminProcedure
    .input(createStaffInput)
    .output(createdStaffSchema)
    .mutation(({ ctx, input }) => createStaff(ctx.audited, input)),
  setRole: adminProcedure
    .input(setStaffRoleInput)
    .output(z.void())
    .mutation(({ ctx, input }) => setStaffRole(ctx.audited, input)),
  disable: adminProcedure
    .input(staffIdInput)
    .output(z.void())
    .mutation(({ ctx, input }) => disableStaff(ctx.audited, input)),
  enable: adminProcedure
    .input(staffIdInput)
    .output(z.void())
    .mutation(({ ctx, input }) => enableStaff(ctx.audited, input)),
  revokeSessions: adminProcedure
    .input(staffIdInput)
    .output(revokedSessionsSchema)
    .mutation(({ ctx, input }) => revokeStaffSessions(ctx.audited, input)),
});
