import { registerAccessTests } from './dashboard/access';
import { registerLayoutTests } from './dashboard/layout';
import { registerPageTests } from './dashboard/pages';
import { registerPolicyTests } from './dashboard/policy';
import { registerReadabilityTests } from './dashboard/readability';
import { shareDashboard } from './dashboard/shared-dashboard';
import { registerStaffTests } from './dashboard/staff';
import { registerTimeTests } from './dashboard/times';

shareDashboard();
registerPageTests();
registerLayoutTests();
registerReadabilityTests();
registerPolicyTests();
registerAccessTests();
registerTimeTests();
registerStaffTests();
