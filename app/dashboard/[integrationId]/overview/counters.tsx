import type { ReactNode } from 'react';
import type { Stats } from '../../../../contract/stats';
import { Count, Percent } from '../../components/count';
import { showScore } from '../../components/score-bar';
import { StatStrip } from '../../components/stat-strip';

/** The all-time counters, in one strip. */
export function Counters({ stats }: { stats: Stats }) {
  const { totalSessions, matchedSessions, averageBotScore } = stats;
  const counters: [name: string, value: ReactNode, note: ReactNode][] = [
    [
      'Sessions',
      <Count key="n" value={totalSessions} />,
      <>
        <Count value={stats.sessionsLast24h} /> in 24 hours
      </>,
    ],
    [
      'Bot sessions',
      <Count key="n" value={stats.botSessions} />,
      totalSessions > 0 && (
        <>
          <Percent share={stats.botSessions / totalSessions} /> of all
        </>
      ),
    ],
    ['Average score', averageBotScore === null ? '–' : showScore(averageBotScore), 'of 100'],
    ['Active now', <Count key="n" value={stats.activeSessions} />, 'not closed yet'],
    [
      'Users',
      <Count key="n" value={stats.totalUsers} />,
      totalSessions > 0 && (
        <>
          <Percent share={matchedSessions / totalSessions} /> matched
        </>
      ),
    ],
    ['Courses', <Count key="n" value={stats.totalCourses} />, null],
    [
      'Anomalies',
      <Count key="n" value={stats.anomalies} />,
      <>
        <Count value={stats.confirmedDevices} /> {stats.confirmedDevices === 1 ? 'device' : 'devices'} confirmed
      </>,
    ],
    [
      'Reviewed',
      <Count key="n" value={stats.labeledBot + stats.labeledHuman} />,
      <>
        <Count value={stats.labeledBot} /> bot, <Count value={stats.labeledHuman} /> human
      </>,
    ],
  ];
  return <StatStrip stats={counters} />;
}
