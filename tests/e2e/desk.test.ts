import { vi } from 'vitest';
import { registerFindingTests } from './dashboard/findings';
import { registerIncidentTests } from './dashboard/incidents';
import { registerQueueTests } from './dashboard/queue';
import { registerRateTests } from './dashboard/rates';
import { registerReviewTests } from './dashboard/review';
import { LIMIT_MS, shareDashboard } from './dashboard/shared-dashboard';

// The desk where people judge sessions, in a real Chromium, with the built product. The tests run in this order.

vi.setConfig({ testTimeout: LIMIT_MS });
shareDashboard();
registerReviewTests();
registerQueueTests();
registerFindingTests();
registerIncidentTests();
registerRateTests();
