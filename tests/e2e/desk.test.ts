import { registerFindingTests } from './dashboard/findings';
import { registerIncidentTests } from './dashboard/incidents';
import { registerOtherTabTests } from './dashboard/other-tabs';
import { registerQueueTests } from './dashboard/queue';
import { registerRateTests } from './dashboard/rates';
import { registerReviewTests } from './dashboard/review';
import { shareDashboard } from './dashboard/shared-dashboard';

shareDashboard();
registerReviewTests();
registerQueueTests();
registerFindingTests();
registerIncidentTests();
registerRateTests();
registerOtherTabTests();
