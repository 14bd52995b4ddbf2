import { answerSiteCheck } from '../../../server/rest/staff-endpoints';
import { getService } from '../../../server/service';

export const POST = (request: Request) => answerSiteCheck(getService(), request);
