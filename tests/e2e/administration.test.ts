import { vi } from 'vitest';
import { registerAccountTests } from './dashboard/accounts';
import { registerAlertTests } from './dashboard/alerts';
import { registerErasingTests } from './dashboard/erasing';
import { registerKeyTests } from './dashboard/keys';
import { registerReportTests } from './dashboard/reports';
import { registerSearchTests } from './dashboard/search';
import { registerSetupTests } from './dashboard/setup';
import { LIMIT_MS, shareDashboard } from './dashboard/shared-dashboard';
import { registerTypedTextTests } from './dashboard/typed-text';
import { registerWebhookDeskTests } from './dashboard/webhook-desk';
import { registerWebhookTypeTests } from './dashboard/webhook-types';
import { registerWebhookTests } from './dashboard/webhooks';

// What administrators and developers do in the dashboard, in a real Chromium, with the built product. The tests run in this order.

vi.setConfig({ testTimeout: LIMIT_MS });
shareDashboard();
registerSearchTests();
registerAlertTests();
registerWebhookTests();
registerWebhookDeskTests();
registerReportTests();
registerWebhookTypeTests();
registerSetupTests();
registerAccountTests();
registerKeyTests();
registerErasingTests();
registerTypedTextTests();
