import { answerSignOut } from '../../../../server/rest/staff-door';
import { getService } from '../../../../server/service';

export const POST = (request: Request) => answerSignOut(getService(), request);
