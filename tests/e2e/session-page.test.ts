import { registerContextTests } from './dashboard/context';
import { registerReadingAgainTests } from './dashboard/reading-again';
import { shareDashboard } from './dashboard/shared-dashboard';
import { registerUnsavedVerdictTests } from './dashboard/unsaved-verdicts';
import { prepareCases } from './dashboard/verdict-cases';
import { registerVerdictTests } from './dashboard/verdicts';
import { registerWhyTests } from './dashboard/why';

shareDashboard();
registerContextTests();
registerWhyTests();
registerReadingAgainTests();
prepareCases();
registerVerdictTests();
registerUnsavedVerdictTests();
