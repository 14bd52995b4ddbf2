import { registerSourceTests } from './writing-sessions/sources';
import { registerTextTests } from './writing-sessions/texts';

registerSourceTests();
registerTextTests();
