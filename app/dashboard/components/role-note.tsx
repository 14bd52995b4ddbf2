'use client';
import { useStaff } from '../staff';

/** Tells staff without permission why an action is disabled. `needs` is the lowest role that may do it. */
export function RoleNote({ needs, act }: { needs: 'analyst' | 'admin'; act: string }) {
  const { staff, canWrite, isAdmin } = useStaff();
  if (needs === 'admin' ? isAdmin : canWrite) return null;
  return (
    <p className="text-muted text-xs">
      Your role is {staff.role}: {needs === 'admin' ? 'only admins' : 'only analysts and admins'} may {act}.
    </p>
  );
}
