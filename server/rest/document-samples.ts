/** The method of each operation in the clients (`clients/`). Python writes it in snake case. */
const METHODS = new Map(
  Object.entries({
    getHealth: 'health.get',
    listSessions: 'sessions.list',
    getSession: 'sessions.get',
    getSessionDetails: 'sessions.getDetails',
    getSessionEvidence: 'sessions.getEvidence',
    listSessionEvents: 'sessions.listEvents',
    labelSession: 'sessions.label',
    listUsers: 'users.list',
    listUserSessions: 'users.listSessions',
    confirmDevice: 'users.confirmDevice',
    eraseUser: 'users.erase',
    getUserErasure: 'users.getErasure',
    exportUser: 'users.export',
    listCourses: 'courses.list',
    getAnalytics: 'analytics.get',
    getStats: 'stats.get',
    getUsage: 'usage.get',
    getRiskThresholds: 'riskThresholds.get',
    updateRiskThresholds: 'riskThresholds.update',
    listWebhooks: 'webhooks.list',
    createWebhook: 'webhooks.create',
    getWebhook: 'webhooks.get',
    updateWebhook: 'webhooks.update',
    deleteWebhook: 'webhooks.delete',
    rotateWebhookSecret: 'webhooks.rotateSecret',
    testWebhook: 'webhooks.test',
    listWebhookDeliveries: 'webhooks.listDeliveries',
    getWebhookDelivery: 'webhooks.getDelivery',
    resendWebhookDelivery: 'webhooks.resendDelivery',
    recoverWebhookDeliveries: 'webhooks.recover',
    listWebhookEvents: 'webhookEvents.list',
    getWebhookEvent: 'webhookEvents.get',
    getIntegration: 'integration.get',
    listAuditEntries: 'auditLog.list',
    exportSessions: 'exports.sessions',
    exportUsers: 'exports.users',
    exportWebhookEvents: 'exports.webhookEvents',
    exportAuditEntries: 'exports.auditLog',
  }),
);

/** A call of an operation. */
interface Call {
  operationId: string;
  method: string;
  /** The path as documented: `/v1/sessions/{sessionId}`. */
  template: string;
  needsKey: boolean;
  /** The examples of its parameters in the path, in their order. */
  pathExamples: string[];
  /** The example of the body. Undefined if it takes none. */
  body?: Record<string, unknown> | undefined;
  /** Clients iterate over a list with pages or lines. */
  answer: 'one' | 'list' | 'none';
}

/** A sample as readers of OpenAPI documents take it (`x-codeSamples`). */
interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/** Writes the call of an operation for a shell and with our clients. `BASE` and `KEY` come from the environment. */
export function writeCodeSamples(call: Call): CodeSample[] {
  return [
    { lang: 'Shell', label: 'curl', source: writeShell(call) },
    { lang: 'TypeScript', label: 'TypeScript', source: writeTypeScript(call) },
    { lang: 'Python', label: 'Python', source: writePython(call) },
  ];
}

function writeShell({ method, template, pathExamples, needsKey, body }: Call): string {
  const left = [...pathExamples];
  const path = template.replaceAll(/\{\w+\}/g, () => left.shift()!);
  const request = method === 'GET' ? '' : `-X ${method} `;
  const lines = [`curl -fsS ${request}"$BASE${path}"`];
  if (needsKey) lines.push('-H "Authorization: Bearer $KEY"');
  if (body) lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  return lines.join(' \\\n  ');
}

function writeTypeScript({ operationId, pathExamples, body, answer }: Call): string {
  const given = pathExamples.map(writeObject);
  if (body) given.push(writeObject(body));
  const call = `client.${METHODS.get(operationId)}(${given.join(', ')})`;
  const uses = {
    one: `console.log(await ${call});`,
    list: `for await (const item of ${call}) console.log(item);`,
    none: `await ${call};`,
  };
  return `import { createClient } from 'bot-detection-client';

const client = createClient({ baseUrl: process.env.BASE!, apiKey: process.env.KEY! });
${uses[answer]}
`;
}

/** Writes JSON as an object of JavaScript, on one line. */
const writeObject = (value: unknown): string => {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(writeObject).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([name, field]) => `${name}: ${writeObject(field)}`)
    .join(', ')} }`;
};

function writePython({ operationId, pathExamples, body = {}, answer }: Call): string {
  const given = pathExamples.map(writePythonValue);
  for (const [name, value] of Object.entries(body)) given.push(`${toSnakeCase(name)}=${writePythonValue(value)}`);
  const call = `client.${toSnakeCase(METHODS.get(operationId)!)}(${given.join(', ')})`;
  const uses = { one: `print(${call})`, list: `for item in ${call}:\n        print(item)`, none: call };
  return `import os

from bot_detection import Client

with Client(base_url=os.environ["BASE"], api_key=os.environ["KEY"]) as client:
    ${uses[answer]}
`;
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const writePythonValue = (value: unknown): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(writePythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}: ${writePythonValue(field)}`)
    .join(', ')}}`;
};
