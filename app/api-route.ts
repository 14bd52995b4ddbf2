import { after } from 'next/server';
import { handleWebRequest } from '../server/rest/fetch-adapter';
import { getService, settleService } from '../server/service';

function answer(request: Request): Promise<Response> {
  const service = getService();
  after(() => settleService(service));
  return handleWebRequest(service, request);
}

/** Exports every method: Next itself answers the methods that a route file does not export. */
export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
};
