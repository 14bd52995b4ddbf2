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

export { answer as OPTIONS, answer as POST };
export const maxDuration = 60;
