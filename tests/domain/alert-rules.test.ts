import { registerFiringTests } from './alert-rules/firings';
import { shareDatabase } from './alert-rules/judged-integration';
import { registerMetricTests } from './alert-rules/metrics';
import { registerProcessTests } from './alert-rules/processes';

// Alert rules on a real Postgres: what they count, when they fire, and that each alert is sent once.

shareDatabase();
registerMetricTests();
registerFiringTests();
registerProcessTests();
