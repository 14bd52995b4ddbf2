import { registerCapTests } from './webhooks/cap';
import { registerChangeTests } from './webhooks/changes';
import { registerCreationTests } from './webhooks/creation';
import { registerFieldTests } from './webhooks/fields';
import { shareServer } from './webhooks/shared-server';

shareServer();
registerCreationTests();
registerFieldTests();
registerChangeTests();
registerCapTests();
