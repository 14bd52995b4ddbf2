import { openFloorReads } from '../floor-reads';

let opened: ReturnType<typeof openFloorReads> | undefined;

/** The reads on DATABASE_URL, opened by the first request: the build imports the routes too. */
export function getFloorReads() {
  opened ??= openFloorReads(process.env.DATABASE_URL!);
  return opened;
}

export const answer = (json: string) => new Response(json, { headers: { 'content-type': 'application/json' } });
