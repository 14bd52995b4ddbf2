'use client';
import type { User } from '../../../../contract/users';
import { RiskBadge } from '../../components/badge';
import { ShortId } from '../../components/copying';
import { Count, Percent } from '../../components/count';
import { Facts } from '../../components/details-panel';
import { ScoreBar } from '../../components/score-bar';
import { Time } from '../../components/time';
import { OutsideLink } from '../sessions/session-facts';
import { SessionsLink } from '../sessions/session-links';

/** Facts about a user, over all their sessions. */
export function UserFacts({ user }: { user: User }) {
  const { correlationConfidence, sessionCount, botSessionCount } = user;
  return (
    <Facts
      facts={[
        ['User', <ShortId key="id" id={user.id} name="user id" />],
        ['Email', user.email],
        [
          'Profile',
          user.url && (
            <OutsideLink key="url" url={user.url}>
              In the LMS
            </OutsideLink>
          ),
        ],
        ['Riskiest session', <RiskBadge key="risk" level={user.riskLevel} />],
        ['Highest score', <ScoreBar key="max" score={user.maxBotScore} level={user.riskLevel} />],
        ['Average score', <ScoreBar key="average" score={user.averageBotScore} level={null} />],
        [
          'Sessions',
          <span key="sessions">
            <SessionsLink filter={{ userId: user.id }} title="Sessions of the user">
              <Count value={sessionCount} />
            </SessionsLink>
            , of them <Count value={botSessionCount} /> bot
          </span>,
        ],
        [
          'Devices',
          <span key="devices">
            <Count value={user.deviceCount} /> used, <Count value={user.confirmedDeviceCount} /> confirmed
          </span>,
        ],
        ['Anomalies', <Count key="anomalies" value={user.anomalyCount} />],
        [
          'Matched',
          correlationConfidence !== null && (
            <span key="sure">
              <Percent share={correlationConfidence} /> sure on average
            </span>
          ),
        ],
        ['First seen', <Time key="first" at={user.firstSeenAt} />],
        ['Last seen', <Time key="last" at={user.lastSeenAt} />],
      ]}
    />
  );
}
