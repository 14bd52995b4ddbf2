import { registerAccessTests } from './dashboard/access';
import { registerLayoutTests } from './dashboard/layout';
import { registerPageTests } from './dashboard/pages';
import { registerPolicyTests } from './dashboard/policy';
import { shareDashboard } from './dashboard/shared-dashboard';
import { registerStaffTests } from './dashboard/staff';
import { registerTimeTests } from './dashboard/times';

shareDashboard();
registerPageTests();
registerLayoutTests();
registerPolicyTests();
registerAccessTests();
registerTimeTests();
registerStaffTests();
