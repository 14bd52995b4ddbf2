import { createWebhookInput } from '../../../../contract/webhooks';

// The API's schemas and messages, in the browser. Only the form loads them, because they bring zod.

/** Finds what the API would refuse: a message by field (`url`, `threshold.value`). */
export function findFaults(input: unknown): Map<string, string> {
  const faults = new Map<string, string>();
  for (const { path, message } of createWebhookInput.safeParse(input).error?.issues ?? []) {
    const field = (path[0] === 'threshold' ? path.slice(0, 2) : path.slice(0, 1)).join('.');
    if (!faults.has(field)) faults.set(field, message);
  }
  return faults;
}
