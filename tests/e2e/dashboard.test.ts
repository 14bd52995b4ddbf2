import { vi } from 'vitest';
import { registerAccessTests } from './dashboard/access';
import { registerLayoutTests } from './dashboard/layout';
import { registerPageTests } from './dashboard/pages';
import { registerPolicyTests } from './dashboard/policy';
import { LIMIT_MS, shareDashboard } from './dashboard/shared-dashboard';
import { registerStaffTests } from './dashboard/staff';
import { registerTimeTests } from './dashboard/times';

// The dashboard in a real Chromium, with the built product: its pages, and who may see them. The tests run in this order; `staff` is the
// last, because it starts the product again.

vi.setConfig({ testTimeout: LIMIT_MS });
shareDashboard();
registerPageTests();
registerLayoutTests();
registerPolicyTests();
registerAccessTests();
registerTimeTests();
registerStaffTests();
