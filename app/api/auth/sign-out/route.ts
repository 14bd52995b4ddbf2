import { answerSignOut } from '../../../../server/rest/account-endpoints';
import { getService } from '../../../../server/service';

export const POST = (request: Request) => answerSignOut(getService(), request);
