import type { DeliveryStatus } from '../../contract/webhooks';
import type { PostResult } from './http-client';

/** Why an attempt failed, as the API names it (specification: disabledFailureClass). */
export type FailureClass = '5xx' | '4xx' | 'Timeout' | 'RateLimited' | 'BlockedSsrf' | 'Network' | `HTTP${number}`;

/** What an attempt means for its delivery. `retryDelayMs` is set if the status stays Pending. */
export interface Outcome {
  status: DeliveryStatus;
  failureClass: FailureClass | null;
  retryDelayMs: number | null;
}

/**
 * Decides the outcome of an attempt (specification: Webhook delivery status). `attempt` counts from 1. `delaysMs` are the six
 * delays of the schedule.
 */
export function judgeAttempt(
  result: Exclude<PostResult, { kind: 'aborted' }>,
  attempt: number,
  delaysMs: number[],
): Outcome {
  switch (result.kind) {
    case 'refused-address':
      return { status: 'PermanentFailure', failureClass: 'BlockedSsrf', retryDelayMs: null };
    case 'timeout':
      return retryOrGiveUp('Timeout', attempt, delaysMs);
    case 'network':
      return retryOrGiveUp('Network', attempt, delaysMs);
    case 'response':
      return judgeStatus(result.status, attempt, delaysMs);
  }
}

/** Decides the outcome of a test's only attempt. What would be retried has failed (specification: Test delivery). */
export function judgeTest(result: Exclude<PostResult, { kind: 'aborted' }>): Outcome {
  const outcome = judgeAttempt(result, 1, []);
  return outcome.status === 'MaxRetriesExceeded' ? { ...outcome, status: 'Failed' } : outcome;
}

function judgeStatus(status: number, attempt: number, delaysMs: number[]): Outcome {
  if (status >= 200 && status < 300) return { status: 'Delivered', failureClass: null, retryDelayMs: null };
  if (status === 408) return retryOrGiveUp('Timeout', attempt, delaysMs);
  if (status === 429) return retryOrGiveUp('RateLimited', attempt, delaysMs);
  if (status >= 500 && status < 600) return retryOrGiveUp('5xx', attempt, delaysMs);
  if (status >= 400 && status < 500) return { status: 'PermanentFailure', failureClass: '4xx', retryDelayMs: null };
  return { status: 'Failed', failureClass: `HTTP${status}`, retryDelayMs: null };
}

/** Schedules the next attempt. Its delay counts from the end of this attempt. After the last attempt, the delivery has failed. */
function retryOrGiveUp(failureClass: FailureClass, attempt: number, delaysMs: number[]): Outcome {
  const retryDelayMs = delaysMs[attempt];
  if (retryDelayMs === undefined) return { status: 'MaxRetriesExceeded', failureClass, retryDelayMs: null };
  return { status: 'Pending', failureClass, retryDelayMs };
}
