'use client';
import { useStaff } from '../staff';

/** Says why something cannot be done here, to those who may not; `needs` is the least role that may. */
export function RoleNote({ needs, act }: { needs: 'analyst' | 'admin'; act: string }) {
  const { staff, canWrite, isAdmin } = useStaff();
  if (needs === 'admin' ? isAdmin : canWrite) return null;
  return (
    <p className="text-muted text-xs">
      Your role is {staff.role}: {needs === 'admin' ? 'only admins' : 'only analysts and admins'} may {act}.
    </p>
  );
}
