'use client';
import { createContext, type ReactNode, use } from 'react';
import type { Staff } from '../../contract/staff';

interface Signed {
  staff: Staff;
  /** May label, confirm, and change the integration's data. The procedures enforce it, too. */
  canWrite: boolean;
  isAdmin: boolean;
}

const StaffContext = createContext<Signed | null>(null);

/** Provides the signed-in staff to the pages. */
export function StaffProvider({ staff, children }: { staff: Staff; children: ReactNode }) {
  const signed = { staff, canWrite: staff.role !== 'viewer', isAdmin: staff.role === 'admin' };
  return <StaffContext value={signed}>{children}</StaffContext>;
}

/** Returns the signed-in staff and what they may do. */
export function useStaff(): Signed {
  const signed = use(StaffContext);
  if (!signed) throw new Error('useStaff needs a StaffProvider above it');
  return signed;
}

/** The first two characters of a name. */
export const findInitials = (name: string): string => [...name].slice(0, 2).join('');
