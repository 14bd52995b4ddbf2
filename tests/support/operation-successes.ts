import { expect } from 'vitest';
import { API_VERSION } from '../../contract/version';
import { INTEGRATION_SUCCESSES } from './operation-successes/integration';
import { RECORD_SUCCESSES } from './operation-successes/records';
import { SESSION_SUCCESSES } from './operation-successes/sessions';
import { expectRecent, INSTANT, type Success } from './operation-successes/success';
import { USER_SUCCESSES } from './operation-successes/users';
import { WEBHOOK_SUCCESSES } from './operation-successes/webhooks';

/** Every operation by its id. */
export const SUCCESSES: Record<string, Success> = {
  getHealth: {
    status: 200,
    check({ body }) {
      expect(body).toEqual({ status: 'ok', version: API_VERSION, timestamp: INSTANT });
      expectRecent(body.timestamp);
    },
  },
  ...SESSION_SUCCESSES,
  ...USER_SUCCESSES,
  ...RECORD_SUCCESSES,
  ...INTEGRATION_SUCCESSES,
  ...WEBHOOK_SUCCESSES,
};
