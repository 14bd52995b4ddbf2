import { z } from 'zod';
import { createWebhookInput } from '../../../../contract/webhooks';
import { wordIssue } from '../../../../contract/wording';

// The API's schemas and messages, in the browser. Only the form loads them, because they bring zod. `jitless` keeps zod
// from probing for `eval`, which the Content-Security-Policy refuses.
if (typeof window !== 'undefined') z.config({ customError: wordIssue, jitless: true });

/** Finds what the API would refuse: a message by field (`url`, `threshold.value`). */
export function findFaults(input: unknown): Map<string, string> {
  const faults = new Map<string, string>();
  for (const { path, message } of createWebhookInput.safeParse(input).error?.issues ?? []) {
    const field = (path[0] === 'threshold' ? path.slice(0, 2) : path.slice(0, 1)).join('.');
    if (!faults.has(field)) faults.set(field, message);
  }
  return faults;
}
