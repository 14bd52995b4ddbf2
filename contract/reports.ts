import { z } from 'zod';
import { REPORT_FORMATS } from './events';
import { idText, instantText, nameText, timeZoneName, wireInstant, word } from './fields';
import { RISK_LEVELS } from './sessions';

// Reports that the product makes itself: what staff ask for, and how far it is. For staff; no route of the public API shows
// them. A report that is ready is a fact like any other (contract/findings.ts).

export const REPORT_TEMPLATES = ['course-integrity', 'user-evidence', 'sessions', 'weekly-overview'] as const;
export type ReportTemplate = (typeof REPORT_TEMPLATES)[number];

export const REPORT_STATES = ['Queued', 'Running', 'Ready', 'Failed'] as const;
export type ReportState = (typeof REPORT_STATES)[number];

/** For how long a file can be downloaded. */
export const REPORT_DAYS = 30;
/** The longest window of a report: the longest retention of a plan. */
const MAX_WINDOW_DAYS = 730;

const days = z
  .int()
  .min(1)
  .max(MAX_WINDOW_DAYS)
  .describe('The length of the window in days. It ends when the report is asked for, or at `until`.');
const courseId = idText();
const userId = idText();
const riskLevel = word(RISK_LEVELS);

/** What each template asks for. */
const PARAMETERS = {
  'course-integrity': { courseId, days },
  'user-evidence': { userId, days },
  sessions: { days, riskLevel: riskLevel.optional(), courseId: courseId.optional() },
  'weekly-overview': {},
} as const satisfies Record<ReportTemplate, z.ZodRawShape>;

/** The parameters of a report as they are stored. */
export interface ReportParameters {
  courseId?: string | undefined;
  userId?: string | undefined;
  riskLevel?: (typeof RISK_LEVELS)[number] | undefined;
  days?: number | undefined;
}
export const PARAMETER_NAMES = ['courseId', 'userId', 'riskLevel', 'days'] as const;

/** One object for each template, with its parameters and `common`. */
const ofTemplates = <Common extends z.ZodRawShape>(common: Common) => {
  const of = <T extends ReportTemplate>(template: T) =>
    z.object({ template: z.literal(template), ...PARAMETERS[template], ...common });
  type ObjectsOf<Templates extends readonly ReportTemplate[]> = {
    [Index in keyof Templates]: ReturnType<typeof of<Templates[Index]>>;
  };
  const objects = REPORT_TEMPLATES.map((template) => of(template));
  return z.discriminatedUnion('template', objects as unknown as ObjectsOf<typeof REPORT_TEMPLATES>);
};

const common = { format: word(REPORT_FORMATS), name: nameText(200).optional() };

export const CADENCES = ['daily', 'weekly', 'monthly'] as const;
export type Cadence = (typeof CADENCES)[number];

/** When a schedule is due: at a full hour in a time zone. */
const timing = {
  cadence: word(CADENCES),
  weekday: z.int().min(1).max(7).optional().describe('Of a weekly one: 1 is Monday, 7 Sunday.'),
  // Every month has these.
  dayOfMonth: z.int().min(1).max(28).optional().describe('Of a monthly one.'),
  hour: z.int().min(0).max(23),
  timeZone: timeZoneName(),
};

/** A report that is made again and again. Its window ends when it is due. */
export const createScheduleInput = ofTemplates({ ...common, ...timing }).check((context) => {
  const { cadence, weekday, dayOfMonth } = context.value;
  const refuse = (field: string) =>
    context.issues.push({ code: 'custom', input: context.value, path: [field], message: `is required if ${cadence}` });
  if (cadence === 'weekly' && weekday === undefined) refuse('weekday');
  if (cadence === 'monthly' && dayOfMonth === undefined) refuse('dayOfMonth');
});
export type CreateScheduleInput = z.infer<typeof createScheduleInput>;

/** What a report is about. Names are those of today. */
const subject = {
  courseId: z.string().nullable(),
  courseName: z.string().nullable(),
  userId: z.string().nullable(),
  userName: z.string().nullable(),
  riskLevel: z.enum(RISK_LEVELS).nullable(),
};
export type ReportSubject = z.infer<z.ZodObject<typeof subject>>;

export const reportScheduleSchema = z.object({
  id: z.string(),
  name: z.string(),
  template: z.enum(REPORT_TEMPLATES),
  format: z.enum(REPORT_FORMATS),
  cadence: z.enum(CADENCES),
  weekday: z.number().nullable(),
  dayOfMonth: z.number().nullable(),
  hour: z.number(),
  timeZone: z.string(),
  nextDueAt: wireInstant(),
  days: z.number(),
  ...subject,
  createdBy: z.string().nullable().describe('The address of the account.'),
  createdAt: wireInstant(),
});
export type ReportSchedule = z.infer<typeof reportScheduleSchema>;

/** A report that is made once. */
export const requestReportInput = ofTemplates({ ...common, until: instantText().optional() }).check(
  ({ value, issues }) => {
    const message = 'is not possible: a weekly overview ends when it is made';
    if (value.template === 'weekly-overview' && value.until !== undefined)
      issues.push({ code: 'custom', input: value, path: ['until'], message });
  },
);
export type RequestReportInput = z.infer<typeof requestReportInput>;

export const requestedReportSchema = z.object({ id: z.string() });

/** What a template is about, and what it asks for. */
export const reportTemplateSchema = z.object({
  id: z.enum(REPORT_TEMPLATES),
  name: z.string(),
  about: z.string(),
  parameters: z.array(z.object({ name: z.enum(PARAMETER_NAMES), isRequired: z.boolean() })),
});
export type ReportTemplateEntry = z.infer<typeof reportTemplateSchema>;

/** Lists the parameters of a template, and which of them it needs. */
export const listParameters = (template: ReportTemplate) =>
  Object.entries<z.ZodType>(PARAMETERS[template]).map(([name, schema]) => ({
    name: name as (typeof PARAMETER_NAMES)[number],
    isRequired: !schema.safeParse(undefined).success,
  }));

/** What was asked for, by whom. */
const request = {
  template: z.enum(REPORT_TEMPLATES),
  requestedBy: z.string().nullable().describe('The address of the account; null for a schedule.'),
  requestedAt: wireInstant(),
  startAt: wireInstant(),
  endAt: wireInstant(),
  ...subject,
};
export const reportContentSchema = z.object(request);
export type ReportContent = z.infer<typeof reportContentSchema>;

/** A report that is being made, or could not be made. A finished one is in the list of reports. */
export const reportJobSchema = z.object({
  id: z.string(),
  name: z.string(),
  format: z.enum(REPORT_FORMATS),
  state: z.enum(REPORT_STATES),
  failure: z.string().nullable().describe('Why it failed, in words for staff.'),
  failedAt: wireInstant().nullable(),
  recordCount: z.number().describe('Rows written so far.'),
  ...request,
});
export type ReportJob = z.infer<typeof reportJobSchema>;

export const reportIdInput = z.object({ id: idText() });
export const deletedReportSchema = z.object({ id: z.string() });
