import { handleWebRequest } from '../server/rest/fetch-adapter';
import { getService } from '../server/service';

/** Answers any method of a public API path: Next itself would answer those that a route file does not export. */
export const answer = (request: Request) => handleWebRequest(getService(), request);
