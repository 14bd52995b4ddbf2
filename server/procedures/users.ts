import { z } from 'zod';
import { pageOf } from '../../contract/pagination';
import { sessionSchema } from '../../contract/sessions';
import { listSortedUsersInput } from '../../contract/sorting';
import { totalSchema } from '../../contract/totals';
import { userErasureInput, userErasureSchema } from '../../contract/user-erasures';
import { userExportSchema } from '../../contract/user-exports';
import {
  confirmDeviceInput,
  deviceConfirmationSchema,
  listUserSessionsInput,
  listUsersInput,
  revokeDeviceInput,
  userDeviceSchema,
  userIdInput,
  userSchema,
} from '../../contract/users';
import { confirmDevice, listUserDevices, revokeDevice } from '../domain/devices';
import { getUser, listSortedUsers, listUsers } from '../domain/directories';
import { listUserSessions } from '../domain/sessions';
import { countUsers } from '../domain/totals';
import { getErasure } from '../domain/user-erasures';
import { writeUserExport } from '../domain/user-export';
import { JsonFile, jsonFileOf } from './file-answer';
import { integrationProcedure, keyOrAdminProcedure, router } from './trpc';

const tags = ['Users'];

export const usersRouter = router({
  list: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/users',
        operationId: 'listUsers',
        tags,
        summary: 'List users',
        description: 'The LMS users that sessions are correlated with, by id.',
      },
    })
    .input(listUsersInput)
    .output(pageOf(userSchema))
    .query(({ ctx, input }) => listUsers(ctx.domain, input)),

  listSessions: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/users/{userId}/sessions',
        operationId: 'listUserSessions',
        tags,
        summary: 'List the sessions of a user',
        description: 'The sessions that are correlated with the user, newest first.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(listUserSessionsInput)
    .output(pageOf(sessionSchema))
    .query(({ ctx, input }) => listUserSessions(ctx.domain, input)),

  listSorted: integrationProcedure
    .input(listSortedUsersInput)
    .output(pageOf(userSchema))
    .query(({ ctx, input }) => listSortedUsers(ctx.domain, input)),

  count: integrationProcedure.output(totalSchema).query(({ ctx }) => countUsers(ctx.domain)),

  get: integrationProcedure
    .input(userIdInput)
    .output(userSchema)
    .query(({ ctx, input }) => getUser(ctx.domain, input)),

  listDevices: integrationProcedure
    .input(userIdInput)
    .output(z.array(userDeviceSchema))
    .query(({ ctx, input }) => listUserDevices(ctx.domain, input)),

  confirmDevice: integrationProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/v1/users/{userId}/devices/{fingerprint}/confirm',
        operationId: 'confirmDevice',
        tags,
        summary: 'Confirm a device as a user’s own',
        description:
          'The pair’s next SharedDevice and DeviceSwitch anomalies are suppressed. A pair that is not known yet is registered; a repeat refreshes `confirmedAt`. The body may be left out.',
      },
      scope: 'sessions:write',
      errors: ['UNSUPPORTED_OPERATION'],
    })
    .input(confirmDeviceInput)
    .output(deviceConfirmationSchema)
    .mutation(({ ctx, input }) => confirmDevice(ctx.domain, input)),

  erase: keyOrAdminProcedure
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/v1/users/{userId}',
        operationId: 'eraseUser',
        tags,
        summary: 'Erase a user',
        description:
          'Erases the user in the background and answers a receipt; ask for it until its status is `Completed`. Their sessions stay counted under a random id, so every total stays the same. From the answer on, facts that name them are refused for 90 days. Also for users of whom nothing is known. The random id of a user who was erased is refused.',
      },
      scope: 'users:erase',
      errors: ['UNSUPPORTED_OPERATION'],
    })
    .input(userIdInput)
    .output(userErasureSchema)
    .mutation(({ ctx, input }) => ctx.service.erasures.request(ctx.domain, input)),

  getErasure: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/user-erasures/{receiptId}',
        operationId: 'getUserErasure',
        tags,
        summary: 'Get the receipt of an erasure',
        description: 'It says how far the erasure is and what it changed, not of whom. Receipts are kept for 400 days.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(userErasureInput)
    .output(userErasureSchema)
    .query(({ ctx, input }) => getErasure(ctx.domain, input)),

  export: integrationProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/v1/users/{userId}/export',
        operationId: 'exportUser',
        tags,
        summary: 'Export all that is held about a user',
        description: 'One JSON file, sent as it is read. Recordings of sessions are not in it.',
      },
      errors: ['NOT_FOUND'],
    })
    .input(userIdInput)
    .output(jsonFileOf(userExportSchema))
    .query(({ ctx, input }) => new JsonFile(`user ${input.userId}`, writeUserExport(ctx.domain, input.userId))),

  /** Takes a confirmation back. For staff, not part of the public API. */
  revokeDevice: integrationProcedure
    .input(revokeDeviceInput)
    .output(z.void())
    .mutation(({ ctx, input }) => revokeDevice(ctx.domain, input)),
});
