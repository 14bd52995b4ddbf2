import { registerAnswerTests } from './openapi/answers';
import { registerDeliveryTests } from './openapi/delivery';
import { registerEventTests } from './openapi/events';
import { registerOperationTests } from './openapi/operations';
import { shareDocument } from './openapi/shared-document';

shareDocument();
registerOperationTests();
registerDeliveryTests();
registerAnswerTests();
registerEventTests();
