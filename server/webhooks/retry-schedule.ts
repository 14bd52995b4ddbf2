import type { DeliveryStatus } from '../../contract/webhooks';
import type { PostResult } from './http-client';

/** Why an attempt failed, as the API names it (specification: disabledFailureClass). */
export type FailureClass = '5xx' | '4xx' | 'Timeout' | 'RateLimited' | 'BlockedSsrf' | 'Network' | `HTTP${number}`;

/** What an attempt makes of its delivery. `retryDelayMs` is set where the status stays Pending. */
export interface Outcome {
  status: DeliveryStatus;
  failureClass: FailureClass | null;
  retryDelayMs: number | null;
}

/** Judges an attempt's result (specification: Webhook delivery status). `attempt` counts from 1; `delaysMs` are the six of the schedule. */
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

/** Judges the one attempt of a test: what would be retried has failed (specification: Test delivery). */
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

/** The delay before attempt n + 1 counts from the end of attempt n; the last attempt gives up. */
function retryOrGiveUp(failureClass: FailureClass, attempt: number, delaysMs: number[]): Outcome {
  const retryDelayMs = delaysMs[attempt];
  if (retryDelayMs === undefined) return { status: 'MaxRetriesExceeded', failureClass, retryDelayMs: null };
  return { status: 'Pending', failureClass, retryDelayMs };
}
