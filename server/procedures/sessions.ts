import { pageOf } from '../contract/pagination';
import { listSessionsInput, sessionIdInput, sessionSchema } from '../contract/sessions';
import { getSession, listSessions } from '../domain/sessions';
import { integrationProcedure, router } from './trpc';

const tags = ['Sessions'];

export const sessionsRouter = router({
  list: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/sessions',
        operationId: 'listSessions',
        tags,
        summary: 'List sessions',
        description: 'Browsing sessions, newest first. Filters combine with and.',
      },
    })
    .input(listSessionsInput)
    .output(pageOf(sessionSchema))
    .query(({ ctx, input }) => listSessions(ctx, input)),

  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/sessions/{sessionId}',
        operationId: 'getSession',
        tags,
        summary: 'Get a session',
      },
      errors: ['NOT_FOUND'],
    })
    .input(sessionIdInput)
    .output(sessionSchema)
    .query(({ ctx, input }) => getSession(ctx, input)),
});
