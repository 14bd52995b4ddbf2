import { registerDeviceTests } from './anomalies/devices';
import { registerPlaceTests } from './anomalies/places';
import { shareCampus } from './anomalies/shared-campus';
import { registerTakeoverTests } from './anomalies/takeovers';
import { registerUserTests } from './anomalies/users';

// What the rules find in the facts of any pipeline, and whom they leave alone.

shareCampus();
registerDeviceTests();
registerUserTests();
registerPlaceTests();
registerTakeoverTests();
