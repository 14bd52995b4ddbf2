import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { after } from 'next/server';
import type { Context } from '../../../../server/procedures/context';
import { appRouter } from '../../../../server/procedures/router';
import { readWebBody, toWebResponse } from '../../../../server/rest/fetch-adapter';
import { answerPipeline, MAX_FACTS_BYTES, PIPELINE_PROCEDURE } from '../../../../server/rest/pipeline-door';
import { getService, settleService } from '../../../../server/service';

type Parameters = { params: Promise<{ trpc: string }> };

/** tRPC over HTTP: the pipeline's door, under any spelling of its path, and the dashboard's calls. */
async function answer(request: Request, { params }: Parameters): Promise<Response> {
  const service = getService();
  after(() => settleService(service));
  if (request.method === 'POST' && (await params).trpc === PIPELINE_PROCEDURE) {
    const door = {
      header: (name: string) => request.headers.get(name),
      readBody: () => readWebBody(request, MAX_FACTS_BYTES),
    };
    return toWebResponse(await answerPipeline(service, door));
  }
  return fetchRequestHandler({
    endpoint: '/api/trpc',
    req: request,
    router: appRouter,
    allowBatching: false,
    // Facts come through the door alone, whose limits do not hold here: no token is taken.
    createContext: (): Context => ({ service, caller: { kind: 'bearer', token: null } }),
    onError({ error, path }) {
      if (error.code === 'INTERNAL_SERVER_ERROR') service.log.error({ err: error, procedure: path }, 'a call failed');
    },
  });
}

export { answer as GET, answer as POST };
export const maxDuration = 60;
