import { vi } from 'vitest';
import { registerAccessTests } from './dashboard/access';
import { registerAlertTests } from './dashboard/alerts';
import { registerFindingTests } from './dashboard/findings';
import { registerPageTests } from './dashboard/pages';
import { registerPolicyTests } from './dashboard/policy';
import { registerReportTests } from './dashboard/reports';
import { registerReviewTests } from './dashboard/review';
import { LIMIT_MS, shareDashboard } from './dashboard/shared-dashboard';
import { registerStaffTests } from './dashboard/staff';
import { registerWebhookTypeTests } from './dashboard/webhook-types';
import { registerWebhookTests } from './dashboard/webhooks';

// The dashboard in a real Chromium, with the built product. The tests run in this order.

vi.setConfig({ testTimeout: LIMIT_MS });
shareDashboard();
registerPageTests();
registerPolicyTests();
registerReviewTests();
registerAlertTests();
registerWebhookTests();
registerReportTests();
registerAccessTests();
registerFindingTests();
registerWebhookTypeTests();
// Last, because it starts the product again.
registerStaffTests();
