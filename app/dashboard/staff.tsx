'use client';
import { createContext, type ReactNode, use } from 'react';
import type { Staff } from '../../contract/staff';

interface Signed {
  staff: Staff;
  /** May label, confirm and change what is an integration's own; the procedures refuse others anyway. */
  canWrite: boolean;
  isAdmin: boolean;
}

const StaffContext = createContext<Signed | null>(null);

/** Tells the pages who is signed in. */
export function StaffProvider({ staff, children }: { staff: Staff; children: ReactNode }) {
  const signed = { staff, canWrite: staff.role !== 'viewer', isAdmin: staff.role === 'admin' };
  return <StaffContext value={signed}>{children}</StaffContext>;
}

/** Answers who is signed in and what they may do. */
export function useStaff(): Signed {
  const signed = use(StaffContext);
  if (!signed) throw new Error('useStaff needs a StaffProvider above it');
  return signed;
}
