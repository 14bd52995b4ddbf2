import { after } from 'next/server';
import { getService, settleService } from '../../../server/service';

/** Answers Inngest's calls. Closed when the embedded engine runs the functions. */
async function answer(request: Request): Promise<Response> {
  const service = getService();
  after(() => settleService(service));
  return service.inngestHandler?.(request) ?? new Response('Not found\n', { status: 404 });
}

export { answer as GET, answer as POST, answer as PUT };
export const maxDuration = 60;
