import { registerAdditionTests } from './compatibility/additions';
import { registerBreakingChangeTests } from './compatibility/breaking-changes';
import { registerReleaseTests } from './compatibility/releases';
import { registerWholeDocumentTests } from './compatibility/whole-document';

registerBreakingChangeTests();
registerAdditionTests();
registerWholeDocumentTests();
registerReleaseTests();
