import type { StaffRole } from '../../../../contract/staff';

export const ROLE_WORDS: Record<StaffRole, string> = { admin: 'Admin', analyst: 'Analyst', viewer: 'Viewer' };
