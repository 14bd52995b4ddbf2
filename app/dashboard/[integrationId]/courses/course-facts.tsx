'use client';
import type { Course } from '../../../../contract/courses';
import { ShortId } from '../../components/copying';
import { Count } from '../../components/count';
import { Facts } from '../../components/details-panel';
import { ScoreBar } from '../../components/score-bar';
import { Time } from '../../components/time';
import { OutsideLink } from '../sessions/session-facts';
import { SessionsLink } from '../sessions/session-links';

/** Facts about a course, over all its sessions. */
export function CourseFacts({ course }: { course: Course }) {
  return (
    <Facts
      facts={[
        ['Course', <ShortId key="id" id={course.id} name="course id" />],
        ['Code', course.code],
        [
          'Address',
          <OutsideLink key="url" url={course.url}>
            {course.url}
          </OutsideLink>,
        ],
        [
          'Sessions',
          <span key="sessions">
            <SessionsLink filter={{ courseId: course.id }} title="Sessions of the course">
              <Count value={course.sessionCount} />
            </SessionsLink>
            , of them <Count value={course.botSessionCount} /> bot
          </span>,
        ],
        ['Users', <Count key="users" value={course.userCount} />],
        ['Average score', <ScoreBar key="average" score={course.averageBotScore} level={null} />],
        ['First seen', <Time key="first" at={course.firstSeenAt} />],
        ['Last seen', <Time key="last" at={course.lastSeenAt} />],
      ]}
    />
  );
}
