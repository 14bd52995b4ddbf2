import { registerContextTests } from './dashboard/context';
import { shareDashboard } from './dashboard/shared-dashboard';
import { registerVerdictTests } from './dashboard/verdicts';
import { registerWhyTests } from './dashboard/why';

shareDashboard();
registerContextTests();
registerWhyTests();
registerVerdictTests();
