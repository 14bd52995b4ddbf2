import { sessionDeliveriesSchema } from '../../contract/deliveries';
import { sessionEvidenceSchema } from '../../contract/evidence';
import { pageOf } from '../../contract/pagination';
import {
  listSessionEventsInput,
  sessionDetailsSchema,
  sessionEventSchema,
  staffSessionDetailsSchema,
} from '../../contract/session-events';
import { sessionHistorySchema } from '../../contract/session-history';
import {
  labelSessionInput,
  leftLabelSchema,
  listSessionsInput,
  removeLabelInput,
  sessionIdInput,
  sessionLabelSchema,
  sessionSchema,
  setVerdictInput,
  setVerdictSchema,
  undoVerdictInput,
} from '../../contract/sessions';
import { listSortedSessionsInput } from '../../contract/sorting';
import { countSessionsInput, totalSchema } from '../../contract/totals';
import { labelSession, removeLabel, setVerdict, undoVerdict } from '../domain/labels';
import { getSessionDetails, listSessionEvents } from '../domain/session-events';
import { getSessionEvidence } from '../domain/session-evidence';
import { getSessionHistory } from '../domain/session-history';
import { getSession, listSessions, listSortedSessions } from '../domain/sessions';
import { countSessions } from '../domain/totals';
import { listSessionDeliveries } from '../webhooks/delivery-log';
import { sessionContextProcedures } from './session-context';
import { integrationProcedure, router } from './trpc';

const tags = ['Sessions'];

export const sessionsRouter = router({
  ...sessionContextProcedures,

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
    .query(({ ctx, input }) => listSessions(ctx.domain, input)),

  listSorted: integrationProcedure
    .input(listSortedSessionsInput)
    .output(pageOf(sessionSchema))
    .query(({ ctx, input }) => listSortedSessions(ctx.domain, input)),

  count: integrationProcedure
    .input(countSessionsInput)
    .output(totalSchema)
    .query(({ ctx, input }) => countSessions(ctx.domain, input)),

  get: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/sessions/{sessionId}',
        operationId: 'getSession',
        tags,
        summary: 'Get a session',
        description: 'One browsing session, with its score, its label and the user it is correlated with.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(sessionIdInput)
    .output(sessionSchema)
    .query(({ ctx, input }) => getSession(ctx.domain, input)),

  getDetails: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/sessions/{sessionId}/details',
        operationId: 'getSessionDetails',
        tags,
        summary: 'Get the details of a session',
        description:
          'Its duration, the counts of its events, a timeline, the pages it went through and what the rules found.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(sessionIdInput)
    .output(sessionDetailsSchema)
    .query(({ ctx, input }) => getSessionDetails(ctx.domain, input)),

  getEvidence: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/sessions/{sessionId}/evidence',
        operationId: 'getSessionEvidence',
        tags,
        summary: 'Get the evidence of a session',
        description:
          'Why the session has its score: what each rule found, what it measured, when, and how much it counts.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(sessionIdInput)
    .output(sessionEvidenceSchema)
    .query(({ ctx, input }) => getSessionEvidence(ctx.domain, input)),

  listEvents: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/sessions/{sessionId}/events',
        operationId: 'listSessionEvents',
        tags,
        summary: 'List the events of a session',
        description: 'Metadata of the events by their sequence; never what was typed.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(listSessionEventsInput)
    .output(pageOf(sessionEventSchema))
    .query(({ ctx, input }) => listSessionEvents(ctx.domain, input)),

  listDeliveries: integrationProcedure
    .input(sessionIdInput)
    .output(sessionDeliveriesSchema)
    .query(({ ctx, input }) => listSessionDeliveries(ctx.domain, input)),

  label: integrationProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/v1/sessions/{sessionId}/label',
        operationId: 'labelSession',
        tags,
        summary: 'Label a session as bot or human',
        description: 'The verdict overrides the score in every count. A new label replaces the old one.',
      },
      scope: 'sessions:write',
      errors: ['NOT_FOUND'],
    })
    .input(labelSessionInput)
    .output(sessionLabelSchema)
    .mutation(({ ctx, input }) => labelSession(ctx.domain, input)),

  /** `getDetails` with more fields that the dashboard shows. For staff, not part of the public API. */
  getTimeline: integrationProcedure
    .input(sessionIdInput)
    .output(staffSessionDetailsSchema)
    .query(({ ctx, input }) => getSessionDetails(ctx.domain, input)),

  /** Why the session had its class at each time. For staff, not part of the public API. */
  getHistory: integrationProcedure
    .input(sessionIdInput)
    .output(sessionHistorySchema)
    .query(({ ctx, input }) => getSessionHistory(ctx.domain, input)),

  /** `label` for the dashboard: changes what is given and keeps the rest. For staff, not part of the public API. */
  setVerdict: integrationProcedure
    .input(setVerdictInput)
    .output(setVerdictSchema)
    .mutation(({ ctx, input }) => setVerdict(ctx.domain, input)),

  /** Undoes `setVerdict`. For staff, not part of the public API. */
  undoVerdict: integrationProcedure
    .input(undoVerdictInput)
    .output(leftLabelSchema)
    .mutation(({ ctx, input }) => undoVerdict(ctx.domain, input)),

  /** Lets the score decide again. For staff, not part of the public API. */
  removeLabel: integrationProcedure
    .input(removeLabelInput)
    .output(leftLabelSchema)
    .mutation(({ ctx, input }) => removeLabel(ctx.domain, input)),
});
