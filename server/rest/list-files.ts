import type { AuditEntry } from '../../contract/audit';
import type { Course } from '../../contract/courses';
import type { Delivery } from '../../contract/deliveries';
import type { Alert, Anomaly } from '../../contract/findings';
import type { ListName } from '../../contract/list-queries';
import type { Page } from '../../contract/pagination';
import type { Session } from '../../contract/sessions';
import type { User } from '../../contract/users';
import { BYTE_ORDER_MARK, type Cell, writeCsvLine } from '../platform/csv';
import type { appRouter } from '../procedures/router';

// Lists of the dashboard as CSV. A file reads the pages of the list one after the other through the list's own procedure, so it has
// what the list has, for whom the list is open. It keeps one page at a time.

/** A file has at most this many rows. Its last line says so if it is cut. */
export const MAX_FILE_ROWS = 1_000_000;

export type StaffCaller = ReturnType<typeof appRouter.createCaller>;
type Position = { cursor?: string | undefined; pageSize: number };
type Input = Record<string, string | number>;

/** A list as a file: how to read a page, and the columns by their names. */
export interface ListFile {
  readPage(caller: StaffCaller, input: Input & Position): Promise<Page<unknown>>;
  columns: Record<string, (row: never) => Cell>;
}

const defineFile = <Row>(
  readPage: (caller: StaffCaller, input: Input & Position) => Promise<Page<Row>>,
  columns: Record<string, (row: Row) => Cell>,
): ListFile => ({ readPage, columns });

/** Who looks after an anomaly or an alert. */
const handling = {
  status: ({ status }: Alert | Anomaly) => status,
  acknowledgedAt: ({ acknowledgedAt }: Alert | Anomaly) => acknowledgedAt,
  acknowledgedBy: ({ acknowledgedBy }: Alert | Anomaly) => acknowledgedBy,
  resolvedAt: ({ resolvedAt }: Alert | Anomaly) => resolvedAt,
  resolvedBy: ({ resolvedBy }: Alert | Anomaly) => resolvedBy,
};

/** The names of columns are those of the API's fields. */
export const LIST_FILES: Record<ListName, ListFile> = {
  sessions: defineFile<Session>((caller, input) => caller.sessions.listSorted(input), {
    createdAt: ({ createdAt }) => createdAt,
    sessionId: ({ id }) => id,
    status: ({ status }) => status,
    riskLevel: ({ riskLevel }) => riskLevel,
    botScore: ({ botScore }) => botScore,
    detectionFlags: ({ detectionFlags }) => detectionFlags,
    label: ({ label }) => label?.verdict ?? null,
    labelConfidence: ({ label }) => label?.confidence ?? null,
    labelNotes: ({ label }) => label?.notes ?? null,
    labeledAt: ({ label }) => label?.labeledAt ?? null,
    userId: ({ userId }) => userId,
    userName: ({ userName }) => userName,
    correlationConfidence: ({ correlationConfidence }) => correlationConfidence,
    courseId: ({ courseId }) => courseId,
    pageUrl: ({ pageUrl }) => pageUrl,
    origin: ({ origin }) => origin,
    deviceFingerprint: ({ deviceFingerprint }) => deviceFingerprint,
    deviceType: ({ deviceType }) => deviceType,
    browser: ({ browser }) => browser,
    userAgentSummary: ({ userAgentSummary }) => userAgentSummary,
    country: ({ country }) => country,
  }),
  users: defineFile<User>((caller, input) => caller.users.listSorted(input as never), {
    userId: ({ id }) => id,
    name: ({ name }) => name,
    email: ({ email }) => email,
    url: ({ url }) => url,
    riskLevel: ({ riskLevel }) => riskLevel,
    maxBotScore: ({ maxBotScore }) => maxBotScore,
    averageBotScore: ({ averageBotScore }) => averageBotScore,
    sessionCount: ({ sessionCount }) => sessionCount,
    botSessionCount: ({ botSessionCount }) => botSessionCount,
    deviceCount: ({ deviceCount }) => deviceCount,
    confirmedDeviceCount: ({ confirmedDeviceCount }) => confirmedDeviceCount,
    anomalyCount: ({ anomalyCount }) => anomalyCount,
    correlationConfidence: ({ correlationConfidence }) => correlationConfidence,
    firstSeenAt: ({ firstSeenAt }) => firstSeenAt,
    lastSeenAt: ({ lastSeenAt }) => lastSeenAt,
  }),
  courses: defineFile<Course>((caller, input) => caller.courses.listSorted(input as never), {
    courseId: ({ id }) => id,
    name: ({ name }) => name,
    code: ({ code }) => code,
    url: ({ url }) => url,
    averageBotScore: ({ averageBotScore }) => averageBotScore,
    sessionCount: ({ sessionCount }) => sessionCount,
    botSessionCount: ({ botSessionCount }) => botSessionCount,
    userCount: ({ userCount }) => userCount,
    firstSeenAt: ({ firstSeenAt }) => firstSeenAt,
    lastSeenAt: ({ lastSeenAt }) => lastSeenAt,
  }),
  anomalies: defineFile<Anomaly>((caller, input) => caller.anomalies.list(input), {
    detectedAt: ({ detectedAt }) => detectedAt,
    anomalyId: ({ id }) => id,
    anomalyType: ({ anomalyType }) => anomalyType,
    severity: ({ severity }) => severity,
    userId: ({ userId }) => userId,
    sessionId: ({ sessionId }) => sessionId,
    deviceFingerprint: ({ deviceFingerprint }) => deviceFingerprint,
    metadata: ({ metadata }) => metadata && JSON.stringify(metadata),
    ...handling,
  }),
  alerts: defineFile<Alert>((caller, input) => caller.alerts.list(input), {
    triggeredAt: ({ triggeredAt }) => triggeredAt,
    alertId: ({ id }) => id,
    severity: ({ severity }) => severity,
    message: ({ message }) => message,
    ruleId: ({ rule }) => rule?.id ?? null,
    ruleName: ({ rule }) => rule?.name ?? null,
    windowStart: ({ windowStart }) => windowStart,
    windowEnd: ({ windowEnd }) => windowEnd,
    url: ({ url }) => url,
    ...handling,
  }),
  deliveries: defineFile<Delivery>((caller, input) => caller.deliveries.list(input as never), {
    createdAt: ({ createdAt }) => createdAt,
    deliveryId: ({ id }) => id,
    subscriptionId: ({ subscriptionId }) => subscriptionId,
    eventId: ({ eventId }) => eventId,
    eventType: ({ eventType }) => eventType,
    test: ({ test }) => test,
    status: ({ status }) => status,
    failureClass: ({ failureClass }) => failureClass,
    attempts: ({ attempts }) => attempts,
    resends: ({ resends }) => resends,
    nextAttemptAt: ({ nextAttemptAt }) => nextAttemptAt,
    finishedAt: ({ finishedAt }) => finishedAt,
  }),
  audit: defineFile<AuditEntry>((caller, input) => caller.audit.list(input), {
    at: ({ at }) => at,
    entryId: ({ id }) => id,
    action: ({ action }) => action,
    actorKind: ({ actor }) => actor.kind,
    actorId: ({ actor }) => actor.id,
    actorName: ({ actor }) => actor.name,
    clientAddress: ({ actor }) => actor.clientAddress,
    integrationId: ({ integrationId }) => integrationId,
    subjectId: ({ subjectId }) => subjectId,
    details: ({ details }) => JSON.stringify(details),
  }),
};

const PAGE_SIZE = 100;

/** Reads the list page by page and writes it. Throws what the list's procedure refuses, at the latest with the first piece. */
export async function* writeListFile(
  caller: StaffCaller,
  { readPage, columns }: ListFile,
  input: Input,
  maxRows = MAX_FILE_ROWS,
): AsyncGenerator<Uint8Array, void, undefined> {
  const values = Object.values(columns) as ((row: unknown) => Cell)[];
  let text = BYTE_ORDER_MARK + writeCsvLine(Object.keys(columns));
  let rows = 0;
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await readPage(caller, {
      ...input,
      pageSize: PAGE_SIZE,
      ...(cursor ? { cursor } : {}),
    });
    const taken = data.slice(0, maxRows - rows);
    rows += taken.length;
    for (const row of taken) text += writeCsvLine(values.map((value) => value(row)));
    const isCut = taken.length < data.length || (rows === maxRows && pagination.hasMore);
    if (isCut) text += writeCsvLine([`Cut after ${maxRows} rows: narrow the filters`]);
    if (text !== '') yield Buffer.from(text);
    if (isCut || !pagination.hasMore) return;
    text = '';
    cursor = pagination.nextCursor;
  }
}
