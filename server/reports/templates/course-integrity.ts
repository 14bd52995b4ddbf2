import { RELIABLE_CONFIDENCE } from '../../domain/correlation';
import { getCourse } from '../../domain/directories';
import { defineTemplate, type ReportContext, type ReportSection } from '../template';

interface CourseUserRow {
  userId: string;
  userName: string | null;
  sessionCount: number;
  uncertainSessionCount: number;
  botSessionCount: number;
  uncertainBotSessionCount: number;
  mediumSessionCount: number;
  labeledBotCount: number;
  labeledHumanCount: number;
  maxBotScore: number | null;
  anomalyCount: number;
  lastSeenAt: string | null;
}

/** How many users a page counts: each costs a range of the index of users. */
const USERS_PER_PAGE = 50;
/** The counts of a user end here: somebody who invents sessions in a user's name must not make the report fail. */
const MAX_COUNTED = 20_000;

/** The users of one course, with counts of their sessions in it. */
export const courseIntegrity = defineTemplate<CourseUserRow>({
  id: 'course-integrity',
  name: 'Course integrity summary',
  about:
    'The users of one course, with how many of their sessions in it were classed as bot or medium. Where the user is not certain, a session may be somebody else’s: anybody can claim to be the user, or the user was inferred from the device.',
  listTitle: 'Users of the course, with their sessions in the window',
  columns: [
    { key: 'userId', title: 'User', isPrinted: true, value: ({ userId }) => userId },
    { key: 'userName', title: 'Name', isPrinted: true, value: ({ userName }) => userName },
    { key: 'sessionCount', title: 'Sessions', isPrinted: true, value: ({ sessionCount }) => sessionCount },
    {
      key: 'uncertainSessionCount',
      title: 'Sessions, user not certain',
      isPrinted: true,
      value: ({ uncertainSessionCount }) => uncertainSessionCount,
    },
    { key: 'botSessionCount', title: 'Bot', isPrinted: true, value: ({ botSessionCount }) => botSessionCount },
    {
      key: 'uncertainBotSessionCount',
      title: 'Bot, user not certain',
      isPrinted: true,
      value: ({ uncertainBotSessionCount }) => uncertainBotSessionCount,
    },
    {
      key: 'mediumSessionCount',
      title: 'Medium',
      isPrinted: true,
      value: ({ mediumSessionCount }) => mediumSessionCount,
    },
    { key: 'labeledBotCount', title: 'Labelled bot', value: ({ labeledBotCount }) => labeledBotCount },
    { key: 'labeledHumanCount', title: 'Labelled human', value: ({ labeledHumanCount }) => labeledHumanCount },
    { key: 'maxBotScore', title: 'Highest score', isPrinted: true, value: ({ maxBotScore }) => maxBotScore },
    { key: 'anomalyCount', title: 'Anomalies', isPrinted: true, value: ({ anomalyCount }) => anomalyCount },
    { key: 'lastSeenAt', title: 'Last seen', isPrinted: true, value: ({ lastSeenAt }) => lastSeenAt },
  ],
  async assertSubject(context) {
    await getCourse(context, { courseId: context.parameters.courseId! });
  },
  summarise: async (context) => [await summariseCourse(context)],
  async readRows(context, after, limit) {
    const { db, integration, parameters, startAt, endAt } = context;
    const count = Math.min(limit, USERS_PER_PAGE);
    const rows = await db.query<CourseUserRow>(READ_USERS, [
      ...[integration.id, parameters.courseId!, String(after?.[0] ?? ''), count],
      ...[startAt, endAt, integration.botAt, integration.mediumAt],
    ]);
    return { rows, next: rows.length < count ? null : [rows.at(-1)!.userId] };
  },
});

async function summariseCourse(context: ReportContext): Promise<ReportSection> {
  const course = await getCourse(context, { courseId: context.parameters.courseId! });
  return {
    key: 'course',
    title: 'Course, of all time',
    numbers: [
      { key: 'id', title: 'Course', value: course.id },
      { key: 'name', title: 'Name', value: course.name },
      { key: 'code', title: 'Code', value: course.code },
      { key: 'url', title: 'Address', value: course.url },
      { key: 'sessionCount', title: 'Sessions', value: course.sessionCount },
      { key: 'userCount', title: 'Users', value: course.userCount },
      { key: 'botSessionCount', title: 'Sessions classed as bot', value: course.botSessionCount },
      { key: 'averageBotScore', title: 'Average score', value: course.averageBotScore },
      { key: 'firstSeenAt', title: 'First seen', value: course.firstSeenAt },
      { key: 'lastSeenAt', title: 'Last seen', value: course.lastSeenAt },
    ],
  };
}

/** Whether anybody could have begun the session in the user's name. */
const IS_UNCERTAIN = `coalesce(s.correlation_confidence, 0) < ${RELIABLE_CONFIDENCE}`;

/**
 * The users are read along the pairs of course and user, which the fold keeps; a user whose first session came within the last
 * minute may be missing. Each user's sessions are a range of their index. The session of each anomaly is looked up by its key.
 */
const READ_USERS = `
  select p.other as "userId", (select u.name from users u where u.integration_id = p.integration_id and u.id = p.other) as "userName",
         s.*, (select count(*)::int from (
                select a.session_id from anomalies a
                 where a.integration_id = p.integration_id and a.user_id = p.other
                   and a.detected_at >= $5::timestamptz and a.detected_at < $6::timestamptz limit ${MAX_COUNTED}) a
                where (select s.course_id from sessions s
                        where s.integration_id = p.integration_id and s.id = a.session_id) = $2) as "anomalyCount"
    from (select p.integration_id, p.other from entity_pairs p
           where p.integration_id = $1 and p.kind = 'course' and p.value = $2 and p.other > $3 and p.sessions > 0
           order by p.other limit $4::int) p
    cross join lateral (
      select count(*)::int as "sessionCount",
             count(*) filter (where ${IS_UNCERTAIN})::int as "uncertainSessionCount",
             count(*) filter (where s.effective_bin >= $7::int)::int as "botSessionCount",
             count(*) filter (where s.effective_bin >= $7::int and ${IS_UNCERTAIN})::int as "uncertainBotSessionCount",
             count(*) filter (where s.effective_bin >= $8::int and s.effective_bin < $7::int)::int as "mediumSessionCount",
             count(*) filter (where s.label = 1)::int as "labeledBotCount",
             count(*) filter (where s.label = -1)::int as "labeledHumanCount",
             max(s.bot_score) as "maxBotScore", max(s.created_at) as "lastSeenAt"
        from (select * from sessions s
               where s.integration_id = p.integration_id and s.user_id = p.other
                 and s.created_at >= $5::timestamptz and s.created_at < $6::timestamptz
               order by s.created_at desc, s.id desc limit ${MAX_COUNTED}) s
       where s.course_id = $2) s
   order by p.other`;
