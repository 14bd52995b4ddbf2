import { registerContentTests } from './report-rendering/contents';
import { registerPageTests } from './report-rendering/pages';
import { registerRunTests } from './report-rendering/runs';
import { shareReports } from './report-rendering/stepped-reports';

// How a report is rendered in parts. No engine runs here: the tests do what it does, step by step.

shareReports();
registerContentTests();
registerRunTests();
registerPageTests();
