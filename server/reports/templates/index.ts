import { listParameters, type ReportTemplate, type ReportTemplateEntry } from '../../../contract/reports';
import type { Template } from '../template';
import { courseIntegrity } from './course-integrity';
import { sessionsTemplate } from './sessions';
import { userEvidence } from './user-evidence';
import { weeklyOverview } from './weekly-overview';

/** The templates by id. */
export const TEMPLATES: Record<ReportTemplate, Template> = {
  'course-integrity': courseIntegrity,
  'user-evidence': userEvidence,
  sessions: sessionsTemplate,
  'weekly-overview': weeklyOverview,
};

/** Lists the templates for a form. */
export const listTemplates = (): ReportTemplateEntry[] =>
  Object.values(TEMPLATES).map(({ id, name, about }) => ({ id, name, about, parameters: listParameters(id) }));
