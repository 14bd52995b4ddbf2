import { vi } from 'vitest';
import { registerContextTests } from './dashboard/context';
import { LIMIT_MS, shareDashboard } from './dashboard/shared-dashboard';
import { registerVerdictTests } from './dashboard/verdicts';
import { registerWhyTests } from './dashboard/why';

// One session, why it has its score and what people said of it, in a real Chromium, with the built product.

vi.setConfig({ testTimeout: LIMIT_MS });
shareDashboard();
registerContextTests();
registerWhyTests();
registerVerdictTests();
