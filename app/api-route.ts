import { handleWebRequest } from '../server/rest/fetch-adapter';
import { getService } from '../server/service';

const answer = (request: Request) => handleWebRequest(getService(), request);

/** Every method of a public API path: Next itself would answer those that a route file does not export. */
export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
};
