import { answerInvitationAccept } from '../../../../../server/rest/account-endpoints';
import { getService } from '../../../../../server/service';

export const POST = (request: Request) => answerInvitationAccept(getService(), request);
