/**
 * What a program has to print for each of the addresses BASES, in a list as JSON, after it has called them with KEY through
 * a generated client: two pages of sessions, a label, the evidence of
 * a session, a new subscription with a threshold, and an error.
 */
export interface ProgramOutput {
  /** The ids of each page. */
  pages: string[][];
  /** `botScore` and `label.verdict` of the session `scored`, read after the label was set. */
  session: [botScore: number | null, verdict: string | null];
  /** What each finding of the session `scored` measured. */
  measured: (number | string | null)[];
  label: [verdict: string, confidence: string | null, notes: string | null];
  webhook: [eventType: string, threshold: unknown, hasSecret: boolean];
  error: [status: number, code: string, field: string | null];
}

/** The programs by the kind of their client, with their file names. */
export const PROGRAMS = {
  'openapi-typescript': {
    file: 'program.ts',
    code: `import createClient from 'openapi-fetch';
import type { paths } from './schema';

const { BASES, KEY } = process.env;
async function callAll(baseUrl: string) {
  const api = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${KEY}\` } });
  const list = async (cursor?: string) =>
    (await api.GET('/v1/sessions', { params: { query: { pageSize: 2, startDate: '2020-01-01', cursor } } })).data!;
  const first = await list();
  const second = await list(first.pagination.nextCursor);
  const path = { sessionId: 'scored' };
  const body = { verdict: 'bot', confidence: null, notes: 'n' } as const;
  const label = (await api.POST('/v1/sessions/{sessionId}/label', { params: { path }, body })).data!.data;
  const { data: session } = (await api.GET('/v1/sessions/{sessionId}', { params: { path } })).data!;
  const { data: evidence } = (await api.GET('/v1/sessions/{sessionId}/evidence', { params: { path } })).data!;
  const webhook = (await api.POST('/v1/webhooks', { body: {
    url: 'https://example.com/hook', eventType: 'BotDetected', threshold: { field: 'botScore', operator: 'in', value: [0.5, 'x', true] },
  } })).data!.data;
  const { error, response } = await api.GET('/v1/sessions', { params: { query: { cursor: 'x' } } });
  return {
    pages: [first, second].map((page) => page.data.map(({ id }) => id)),
    session: [session.botScore, session.label?.verdict],
    measured: evidence.findings.map(({ measured }) => measured),
    label: [label.verdict, label.confidence, label.notes],
    webhook: [webhook.eventType, webhook.threshold?.value, webhook.secret.startsWith('whsec_')],
    error: [response.status, error!.error.code, error!.error.details?.field],
  };
}
const outputs = [];
for (const base of BASES!.split(' ')) outputs.push(await callAll(base));
console.log(JSON.stringify(outputs));
`,
  },
  'typescript-fetch': {
    file: 'program.ts',
    code: `import { Configuration, LabelSessionRequestVerdictEnum, ModelErrorFromJSON, ResponseError, SessionsApi, WebhooksApi } from './client';

const { BASES, KEY } = process.env;
async function callAll(basePath: string) {
  const configuration = new Configuration({ basePath, accessToken: KEY });
  const sessions = new SessionsApi(configuration);
  const list = (cursor?: string) => sessions.listSessions({ pageSize: 2, startDate: '2020-01-01', cursor });
  const first = await list();
  const second = await list(first.pagination.nextCursor);
  const { data: label } = await sessions.labelSession({
    sessionId: 'scored', labelSessionRequest: { verdict: LabelSessionRequestVerdictEnum.Bot, confidence: null, notes: 'n' },
  });
  const { data: session } = await sessions.getSession({ sessionId: 'scored' });
  const { data: evidence } = await sessions.getSessionEvidence({ sessionId: 'scored' });
  const { data: webhook } = await new WebhooksApi(configuration).createWebhook({ createWebhookRequest: {
    url: 'https://example.com/hook', eventType: 'BotDetected', threshold: { field: 'botScore', operator: 'in', value: [0.5, 'x', true] },
  } });
  const refused: unknown = await list('x').catch((error) => error);
  if (!(refused instanceof ResponseError)) throw refused;
  const { error } = ModelErrorFromJSON(await refused.response.json());
  return {
    pages: [first, second].map((page) => page.data.map(({ id }) => id)),
    session: [session.botScore, session.label?.verdict],
    measured: evidence.findings.map(({ measured }) => measured),
    label: [label.verdict, label.confidence, label.notes],
    webhook: [webhook.eventType, webhook.threshold?.value, webhook.secret.startsWith('whsec_')],
    error: [refused.response.status, error.code, error.details?.field],
  };
}
const outputs = [];
for (const base of BASES!.split(' ')) outputs.push(await callAll(base));
console.log(JSON.stringify(outputs));
`,
  },
  python: {
    file: 'program.py',
    code: `import json
import os
import openapi_client as client

def call_all(base):
    configuration = client.Configuration(host=base, access_token=os.environ["KEY"])
    api = client.ApiClient(configuration)
    sessions = client.SessionsApi(api)
    first = sessions.list_sessions(page_size=2, start_date="2020-01-01")
    second = sessions.list_sessions(page_size=2, start_date="2020-01-01", cursor=first.pagination.next_cursor)
    request = client.LabelSessionRequest(verdict="bot", confidence=None, notes="n")
    label = sessions.label_session("scored", request).data
    session = sessions.get_session("scored").data
    evidence = sessions.get_session_evidence("scored").data
    threshold = client.ThresholdInput(field="botScore", operator="in", value=client.ThresholdInputValue([0.5, "x", True]))
    webhook = client.WebhooksApi(api).create_webhook(client.CreateWebhookRequest(
        url="https://example.com/hook", event_type="BotDetected", threshold=threshold)).data
    try:
        sessions.list_sessions(cursor="x")
    except client.ApiException as refused:
        status, error = refused.status, client.Error.from_json(refused.body).error
    return {
        "pages": [[each.id for each in page.data] for page in (first, second)],
        "session": [session.bot_score, session.label.verdict],
        "measured": [getattr(finding.measured, "actual_instance", finding.measured) for finding in evidence.findings],
        "label": [label.verdict, label.confidence, label.notes],
        "webhook": [webhook.event_type, webhook.threshold.value.actual_instance, webhook.secret.startswith("whsec_")],
        "error": [status, error.code, error.details.to_dict()["field"]],
    }

print(json.dumps([call_all(base) for base in os.environ["BASES"].split()]))
`,
  },
  'openapi-python-client': {
    file: 'program.py',
    code: `import json
import os
from bot_detection import AuthenticatedClient, models
from bot_detection.api.sessions import get_session, get_session_evidence, label_session, list_sessions
from bot_detection.api.webhooks import create_webhook

def call_all(base):
    client = AuthenticatedClient(base_url=base, token=os.environ["KEY"])
    first = list_sessions.sync(client=client, page_size=2, start_date="2020-01-01")
    second = list_sessions.sync(client=client, page_size=2, start_date="2020-01-01", cursor=first.pagination.next_cursor)
    request = models.LabelSessionRequest(verdict=models.LabelSessionRequestVerdict.BOT, confidence=None, notes="n")
    label = label_session.sync("scored", client=client, body=request).data
    session = get_session.sync("scored", client=client).data
    evidence = get_session_evidence.sync("scored", client=client).data
    threshold = models.ThresholdInput(field="botScore", operator=models.ThresholdInputOperator.IN, value=[0.5, "x", True])
    webhook = create_webhook.sync(client=client, body=models.CreateWebhookRequest(
        url="https://example.com/hook", event_type=models.CreateWebhookRequestEventType.BOTDETECTED, threshold=threshold)).data
    refused = list_sessions.sync_detailed(client=client, cursor="x")
    error = refused.parsed.error
    return {
        "pages": [[each.id for each in page.data] for page in (first, second)],
        "session": [session.bot_score, session.label.verdict],
        "measured": [finding.measured for finding in evidence.findings],
        "label": [label.verdict, label.confidence, label.notes],
        "webhook": [webhook.event_type, webhook.threshold.value, webhook.secret.startswith("whsec_")],
        "error": [refused.status_code, error.code, error.details.field],
    }

print(json.dumps([call_all(base) for base in os.environ["BASES"].split()]))
`,
  },
};

export type ClientKind = keyof typeof PROGRAMS;
