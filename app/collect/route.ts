import { after } from 'next/server';
import { readForwardedAddress } from '../../server/rest/client-address';
import { answerCollect, MAX_BEACON_BYTES } from '../../server/rest/collect-endpoint';
import { readWebBody, toWebResponse } from '../../server/rest/fetch-adapter';
import { getService, settleService } from '../../server/service';

/** What pages send. It is committed before the answer and judged after it. */
async function answer(request: Request): Promise<Response> {
  const service = getService();
  after(() => settleService(service));
  return toWebResponse(
    await answerCollect(service, {
      method: request.method,
      clientAddress: readForwardedAddress(service, request.headers),
      header: (name) => request.headers.get(name),
      readBody: () => readWebBody(request, MAX_BEACON_BYTES),
    }),
  );
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
export const maxDuration = 60;
