/**
 * Next calls this once in every process that serves its build. Its router repairs, redirects and refuses odd targets
 * before a route handler sees them, so under plain `next start` the API is put in front of it, as in the self-hosted
 * process. Where a platform runs the route handlers by itself there is no server of ours to take: they answer alone.
 */
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs' || process.env.NODE_ENV !== 'production' || process.env.VERCEL) return;
  const { takeNextServer } = await import('./server/next-server');
  takeNextServer();
}
