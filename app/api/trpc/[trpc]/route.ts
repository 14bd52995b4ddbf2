import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import type { Context } from '../../../../server/procedures/context';
import { appRouter } from '../../../../server/procedures/router';
import { readWebBody, toWebResponse } from '../../../../server/rest/fetch-adapter';
import { answerPipeline, MAX_FACTS_BYTES, PIPELINE_PATH, readBearerToken } from '../../../../server/rest/pipeline-door';
import { getService } from '../../../../server/service';

/** tRPC over HTTP: the pipeline's door, and the dashboard's calls. */
async function answer(request: Request): Promise<Response> {
  const service = getService();
  const url = new URL(request.url);
  if (request.method === 'POST' && url.pathname === PIPELINE_PATH && url.search === '') {
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
    // A batch would take the facts past the door's limits.
    allowBatching: false,
    createContext: (): Context => ({
      service,
      caller: { kind: 'bearer', token: readBearerToken(request.headers.get('authorization')) },
    }),
  });
}

export { answer as GET, answer as POST };
export const maxDuration = 60;
