import { registerBodyTests } from './requests/bodies';
import { registerMethodTests } from './requests/methods';
import { registerPixelTests } from './requests/pixel';
import { shareServer } from './requests/shared-server';
import { registerTargetTests } from './requests/targets';

shareServer();
registerBodyTests();
registerTargetTests();
registerMethodTests();
registerPixelTests();
