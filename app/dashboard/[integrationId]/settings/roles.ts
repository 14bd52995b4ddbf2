import type { StaffRole } from '../../../../server/contract/staff';

export const ROLE_WORDS: Record<StaffRole, string> = { admin: 'Admin', analyst: 'Analyst', viewer: 'Viewer' };
