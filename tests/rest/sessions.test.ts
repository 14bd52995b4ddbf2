import { registerFieldTests } from './sessions/fields';
import { registerFilterTests } from './sessions/filters';
import { shareServer } from './sessions/shared-server';
import { registerWalkTests } from './sessions/walks';

shareServer();
registerFieldTests();
registerFilterTests();
registerWalkTests();
