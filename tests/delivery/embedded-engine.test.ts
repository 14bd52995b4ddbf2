import { shareApplications } from './embedded-engine/applications';
import { registerCronTests } from './embedded-engine/crons';
import { registerDatabaseFaultTests } from './embedded-engine/database-faults';
import { registerFunctionTests } from './embedded-engine/functions';
import { registerProcessTests } from './embedded-engine/processes';

// engine-contract.test.ts tests what our functions rely on, with this engine and with a real Inngest. These tests are
// about the embedded engine only: its tables, several processes, trouble with the database, what it refuses.

shareApplications();
registerFunctionTests();
registerProcessTests();
registerDatabaseFaultTests();
// Last, because a cron needs up to a minute to fire.
registerCronTests();
