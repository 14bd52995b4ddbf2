import type { Report } from '../../../../contract/findings';
import type { ReportContent, ReportSchedule, ReportSubject } from '../../../../contract/reports';
import { isolateName } from '../../components/direction';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const RISK_FILTERS: Record<NonNullable<ReportContent['riskLevel']>, string> = {
  bot: 'bot sessions only',
  medium: 'medium sessions only',
  human: 'human sessions only',
};

/** Says how long the window of a report is: `30 days`, `5 hours`. */
export function showLength({ startAt, endAt }: ReportContent): string {
  const ms = Date.parse(endAt) - Date.parse(startAt);
  return ms >= DAY_MS ? countOf(Math.round(ms / DAY_MS), 'day') : countOf(Math.round(ms / HOUR_MS), 'hour');
}

const countOf = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** Says what of an integration a report has: `all sessions`, `Algebra, bot sessions only`. */
export function showFilters({ courseId, courseName, userId, userName, riskLevel }: ReportSubject): string {
  const filters = [
    courseId !== null && (courseName ?? `course ${courseId}`),
    userId !== null && `user ${isolateName(userName ?? userId)}`,
    riskLevel !== null && RISK_FILTERS[riskLevel],
  ].filter(Boolean);
  return filters.join(', ') || 'all sessions';
}

/** Names who asked for a report. */
export const showRequester = ({ requestedBy }: ReportContent) => requestedBy ?? 'a schedule';

/**
 * Names who made a report of which we know no request. Null for an expired one: it may be ours, because a request goes with its file.
 */
export const showMaker = ({ status }: Pick<Report, 'status'>) =>
  status === 'Expired' ? null : 'the customer’s pipeline';

/** Describes a report in one line. */
export const describeContent = (content: ReportContent) =>
  `${showLength(content)}, ${showFilters(content)}, asked for by ${showRequester(content)}`;

/** Describes what each report of a schedule has. Empty while an older process, which does not say it, answers. */
export const describeScheduled = (schedule: Pick<ReportSchedule, 'days'> & ReportSubject) =>
  schedule.days === undefined ? '' : `${countOf(schedule.days, 'day')}, ${showFilters(schedule)}`;
