import { after } from 'next/server';
import { readWebBody, toWebResponse } from '../../../../server/rest/fetch-adapter';
import { answerPipeline, MAX_FACTS_BYTES, PIPELINE_PROCEDURE } from '../../../../server/rest/pipeline-endpoint';
import { answerStaffCall } from '../../../../server/rest/staff-endpoints';
import { getService, settleService } from '../../../../server/service';

type Parameters = { params: Promise<{ trpc: string }> };

/** tRPC over HTTP: the pipeline's endpoint, under any spelling of its path, and the dashboard's calls. */
async function answer(request: Request, { params }: Parameters): Promise<Response> {
  const service = getService();
  after(() => settleService(service));
  if (request.method === 'POST' && (await params).trpc === PIPELINE_PROCEDURE) {
    const factsRequest = {
      header: (name: string) => request.headers.get(name),
      readBody: () => readWebBody(request, MAX_FACTS_BYTES),
    };
    return toWebResponse(await answerPipeline(service, factsRequest));
  }
  return answerStaffCall(service, request);
}

export { answer as GET, answer as POST };
export const maxDuration = 60;
