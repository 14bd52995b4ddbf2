import { getCourse } from '../../domain/directories';
import { defineTemplate } from '../template';
import { readSessionRows, SESSION_REPORT_COLUMNS, UNCERTAIN_USERS } from './session-rows';

/** Every session of a window, on request only those of a class or of a course. */
export const sessionsTemplate = defineTemplate({
  id: 'sessions',
  name: 'Sessions',
  about: `Every session of a window with its score, flags, label and user. ${UNCERTAIN_USERS}`,
  listTitle: 'Sessions',
  columns: SESSION_REPORT_COLUMNS,
  async assertSubject(context) {
    const { courseId } = context.parameters;
    if (courseId !== undefined) await getCourse(context, { courseId });
  },
  summarise: async () => [],
  readRows(context, after, limit) {
    const { riskLevel, courseId } = context.parameters;
    return readSessionRows(context, { riskLevel, courseId }, after, limit);
  },
});
