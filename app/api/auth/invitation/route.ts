import { answerInvitation } from '../../../../server/rest/account-endpoints';
import { getService } from '../../../../server/service';

export const POST = (request: Request) => answerInvitation(getService(), request);
