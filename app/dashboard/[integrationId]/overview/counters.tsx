import Link from 'next/link';
import type { ReactNode } from 'react';
import type { Stats } from '../../../../contract/stats';
import { Count, Percent } from '../../components/count';
import { showScore } from '../../components/score-bar';
import { StatStrip } from '../../components/stat-strip';

/** The all-time counters, in one strip. A number links to the list that it counts. */
export function Counters({ stats, base }: { stats: Stats; base: string }) {
  const to = (path: string, value: number) => (
    <Link key={path} prefetch={false} className="hover:underline" href={`${base}/${path}`}>
      <Count value={value} />
    </Link>
  );
  const { totalSessions, matchedSessions, averageBotScore } = stats;
  const counters: [name: string, value: ReactNode, note: ReactNode][] = [
    [
      'Sessions',
      to('sessions', totalSessions),
      <>
        <Count value={stats.sessionsLast24h} /> in 24 hours
      </>,
    ],
    [
      'Bot sessions',
      to('sessions?riskLevel=bot', stats.botSessions),
      totalSessions > 0 && (
        <>
          <Percent share={stats.botSessions / totalSessions} /> of all
        </>
      ),
    ],
    ['Average score', averageBotScore === null ? '–' : showScore(averageBotScore), 'of 100'],
    ['Active now', to('sessions?status=Active', stats.activeSessions), 'not closed yet'],
    [
      'Users',
      to('users', stats.totalUsers),
      totalSessions > 0 && (
        <>
          in <Percent share={matchedSessions / totalSessions} /> of sessions
        </>
      ),
    ],
    ['Courses', to('courses', stats.totalCourses), null],
    [
      'Anomalies',
      to('anomalies', stats.anomalies),
      <>
        <Count value={stats.confirmedDevices} /> {stats.confirmedDevices === 1 ? 'device' : 'devices'} confirmed
      </>,
    ],
    [
      'Reviewed',
      <Count key="n" value={stats.labeledBot + stats.labeledHuman} />,
      <>
        {to('sessions?label=bot', stats.labeledBot)} bot, {to('sessions?label=human', stats.labeledHuman)} human
      </>,
    ],
  ];
  return <StatStrip stats={counters} />;
}
