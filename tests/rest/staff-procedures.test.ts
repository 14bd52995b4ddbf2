import { registerFindingTests } from './staff-procedures/findings';
import { registerIndexReadTests } from './staff-procedures/index-reads';
import { registerIntegrationTests } from './staff-procedures/integrations';
import { registerRecordTests } from './staff-procedures/records';
import { registerSiteTests } from './staff-procedures/sites';
import { shareTenants } from './staff-procedures/two-tenants';
import { registerVerdictTests } from './staff-procedures/verdicts';
import { registerWebhookTests } from './staff-procedures/webhooks';

// What the dashboard shows in addition to the public API, of one tenant among others.

shareTenants();
registerIntegrationTests();
registerSiteTests();
registerFindingTests();
registerRecordTests();
registerVerdictTests();
registerWebhookTests();
registerIndexReadTests();
