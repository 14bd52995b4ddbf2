import { z } from 'zod';
import { createWebhookInput } from '../../../../contract/webhooks';
import { wordIssue } from '../../../../contract/wording';

// The schemas of the API in the browser, with the API's words. Of all pages only the form needs them: they bring zod.
// Without its compiler, which probes for `eval`.
if (typeof window !== 'undefined') z.config({ customError: wordIssue, jitless: true });

/** What the API would refuse of a subscription: by field (`url`, `threshold.value`) what is wrong with it. */
export function findFaults(input: unknown): Map<string, string> {
  const faults = new Map<string, string>();
  for (const { path, message } of createWebhookInput.safeParse(input).error?.issues ?? []) {
    const field = (path[0] === 'threshold' ? path.slice(0, 2) : path.slice(0, 1)).join('.');
    if (!faults.has(field)) faults.set(field, message);
  }
  return faults;
}
