import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { JsonSchemaType } from '@modelcontextprotocol/sdk/validation/types.js';
import { DEFAULT_PAGE_SIZE, type ToolId } from './calls.js';
import { RefusedCall } from './errors.js';
import OPERATIONS from './operations.json';

/** When to use each tool, in everyday words. The API document says the rest. */
const USES: Record<ToolId, string> = {
  getHealth: 'Says whether the service answers, and its version. Needs no valid key.',
  getIntegration: 'Shows whose data this is: name, plan, region, sites, and how many webhooks are permitted.',
  getStats: 'Counts everything: sessions, users, bots. Use it for totals of all time.',
  getAnalytics: 'Shows how many bots there were, over time and by user, site and device. Use it for trends.',
  getUsage: 'Shows how many API requests were made, by day and by route.',
  listAuditEntries: 'Shows who changed settings, keys, webhooks and labels, and when.',
  listSessions:
    'Finds visits, for example the newest that count as bots. Use the filters rather than reading many pages.',
  getSession: 'Shows one visit: page, score, label, user, device.',
  getSessionDetails: 'Shows what happened in a visit: how long, which pages, how many events.',
  getSessionEvidence: 'Explains why a visit has its score. Use it before you call somebody a bot.',
  listSessionEvents: 'Shows the single events of a visit in their order.',
  labelSession: 'Records a reviewer’s verdict on a visit.',
  listUsers: 'Shows the users whose visits are known.',
  listUserSessions: 'Shows the visits of one user.',
  getUserErasure: 'Shows how far the erasure of a user is.',
  confirmDevice: 'Records that a user may use a device.',
  listCourses: 'Shows the courses with their counts of visits and bots.',
  getRiskThresholds: 'Shows from which score a visit counts as a bot.',
  updateRiskThresholds: 'Changes from which score a visit counts as a bot. All counts and lists change at once.',
  listWebhooks: 'Shows where events are sent.',
  getWebhook: 'Shows one webhook and its latest outcome.',
  createWebhook: 'Sends events to an address from now on. Each call makes a further webhook.',
  updateWebhook: 'Changes the address, events, threshold or name of a webhook, or switches it on or off.',
  deleteWebhook: 'Ends a webhook for good.',
  rotateWebhookSecret:
    'Makes a new signing secret. Without a grace period the receiver refuses deliveries until it has the new one.',
  testWebhook: 'Sends one test to a webhook and shows what the receiver answered.',
  listWebhookDeliveries: 'Shows what was sent to a webhook and what failed.',
  getWebhookDelivery: 'Shows one delivery with all attempts. Use it to find out why it failed.',
  resendWebhookDelivery: 'Sends one delivery again.',
  recoverWebhookDeliveries: 'Sends again what failed in a time, possibly thousands of deliveries.',
  listWebhookEvents: 'Shows which events fired, also those that nobody received.',
  getWebhookEvent: 'Shows one event and what became of it.',
};

/** What replaces or removes something. All other changes only add. */
const DESTRUCTIVE = new Set<ToolId>([
  ...(['labelSession', 'updateRiskThresholds'] as const),
  ...(['updateWebhook', 'deleteWebhook', 'rotateWebhookSecret'] as const),
]);
/** POSTs that change nothing more when they are repeated. */
const IDEMPOTENT_POSTS = new Set<ToolId>(['labelSession', 'confirmDevice']);
const WITH_SECRET = new Set<ToolId>(['createWebhook', 'rotateWebhookSecret']);

export interface KnownTool {
  id: ToolId;
  isWrite: boolean;
  /** What the key needs. Null: no valid key. */
  scope: string | null;
  tool: Tool;
  /** Throws RefusedCall for an input that the schema does not permit. */
  check(input: Record<string, unknown>): void;
}

/** The tools by name. Without `allowWrites` only those that read. */
export function listTools(allowWrites: boolean): Map<string, KnownTool> {
  const ids = Object.keys(OPERATIONS) as ToolId[];
  const known = ids.map(describeTool).filter(({ isWrite }) => allowWrites || !isWrite);
  return new Map(known.map((one) => [one.tool.name, one]));
}

function describeTool(id: ToolId): KnownTool {
  const { name, title, description, method, scope, input } = OPERATIONS[id];
  const isWrite = method !== 'GET';
  const inputSchema = structuredClone(input) as unknown as Tool['inputSchema'];
  const properties = inputSchema.properties as Record<string, { default?: unknown }>;
  const isPaged = properties.pageSize !== undefined;
  if (isPaged) properties.pageSize!.default = DEFAULT_PAGE_SIZE;
  const words = [
    USES[id],
    // The secret is not in the result, so the document's words about it are wrong here.
    ...(WITH_SECRET.has(id)
      ? ['The signing secret goes into a file on the user’s computer; the result names the file, not the secret.']
      : [description]),
    ...(isPaged ? ['Comes in pages; page.nextCursor of the result is the cursor of the next one.'] : []),
    ...(isWrite
      ? [`This changes the integration: do it only if the user asked for it. The key needs the scope ${scope}.`]
      : []),
  ];
  const tool: Tool = {
    name,
    title,
    description: words.filter(Boolean).join(' '),
    inputSchema,
    annotations: {
      title,
      readOnlyHint: !isWrite,
      destructiveHint: DESTRUCTIVE.has(id),
      idempotentHint: method !== 'POST' || IDEMPOTENT_POSTS.has(id),
      // Results have texts of strangers.
      openWorldHint: true,
    },
  };
  return { id, isWrite, scope, tool, check: makeCheck(tool) };
}

function makeCheck({ name, inputSchema }: Tool): KnownTool['check'] {
  const validate = new AjvJsonSchemaValidator().getValidator(inputSchema as JsonSchemaType);
  const permitted = Object.keys(inputSchema.properties ?? {});
  return (input) => {
    const unknown = Object.keys(input).find((given) => !permitted.includes(given));
    if (unknown !== undefined) {
      const takes = permitted.length > 0 ? `takes ${permitted.join(', ')}` : 'takes no arguments';
      throw new RefusedCall(
        'INVALID_ARGUMENTS',
        `there is no such argument, ${name} ${takes}`,
        'leave it out',
        unknown,
      );
    }
    const { valid, errorMessage } = validate(input);
    if (valid) return;
    const [first = ''] = errorMessage.split(', data');
    const field = /must have required property '([^']+)'/.exec(first)?.[1] ?? /^data\/(\S+)/.exec(first)?.[1] ?? null;
    const message = first.replace(/^data(\/\S+)? /, '');
    throw new RefusedCall('INVALID_ARGUMENTS', message, 'correct the arguments and call again', field);
  };
}
