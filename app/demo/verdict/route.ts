import { answerDemoVerdict } from '../../../server/rest/demo-endpoint';
import { getService } from '../../../server/service';

export const POST = (request: Request): Promise<Response> => answerDemoVerdict(getService(), request);
