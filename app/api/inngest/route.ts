import { getService } from '../../../server/service';

/** Inngest's calls; closed where the embedded engine runs the functions. */
const answer = async (request: Request) =>
  getService().inngestHandler?.(request) ?? new Response('Not found\n', { status: 404 });

export { answer as GET, answer as POST, answer as PUT };
export const maxDuration = 60;
