import { answerSignIn } from '../../../../server/rest/staff-door';
import { getService } from '../../../../server/service';

export const POST = (request: Request) => answerSignIn(getService(), request);
