import type { Session } from '../../../../contract/sessions';
import { Badge, RISK_WORDS, RiskBadge } from '../../components/badge';
import { joinClasses, TRUNCATED } from '../../components/classes';
import type { Column } from '../../components/data-table';
import { ScoreBar, showScore } from '../../components/score-bar';
import { Time } from '../../components/time';
import { showInstant } from '../../time-zone';
import { describeFlag } from './flag-words';
import { showPath } from './session-facts';
import { FlagLink, SessionsLink } from './session-links';

/** The columns of a session list. */
export const SESSION_COLUMNS: Column<Session>[] = [
  { key: 'risk', name: 'Risk', width: '1%', cell: ({ riskLevel }) => <RiskBadge level={riskLevel} /> },
  {
    key: 'score',
    name: 'Score',
    width: '1%',
    sorts: { descending: 'highestScore' },
    cell: ({ botScore, riskLevel }) => <ScoreBar score={botScore} level={riskLevel} />,
  },
  {
    key: 'user',
    name: 'User',
    cell: ({ userName, userId }) => (
      <span className="block max-w-20 truncate @lg:max-w-32 @6xl:max-w-44">
        {userId === null ? (
          <span className="text-faint">Unmatched</span>
        ) : (
          <SessionsLink
            filter={{ userId }}
            label={`Sessions of ${userName ?? userId}`}
            title={userName ?? userId}
            className="underline-offset-2 hover:underline"
          >
            {userName ?? userId}
          </SessionsLink>
        )}
      </span>
    ),
  },
  {
    key: 'page',
    name: 'First page',
    from: 'md',
    width: '100%',
    cell: ({ pageUrl }) => (
      <span className={joinClasses(TRUNCATED, 'text-muted')} title={pageUrl}>
        {showPath(pageUrl)}
      </span>
    ),
  },
  {
    key: 'flags',
    name: 'Noticed',
    from: 'lg',
    cell: ({ detectionFlags: [first, ...others] }) =>
      first && (
        <span
          className="block max-w-32 truncate text-muted @6xl:max-w-56"
          title={[first, ...others].map(describeFlag).join('\n')}
        >
          <FlagLink flag={first} />
          {others.length > 0 && <span className="text-faint"> +{others.length}</span>}
        </span>
      ),
  },
  { key: 'browser', name: 'Browser', from: 'xl', cell: ({ browser }) => <span className="text-muted">{browser}</span> },
  {
    key: 'label',
    name: 'Review',
    from: 'sm',
    width: '1%',
    cell: ({ label, status }) =>
      label ? (
        <Badge tone={label.verdict}>{label.verdict === 'bot' ? 'Labelled bot' : 'Labelled human'}</Badge>
      ) : (
        status !== 'Scored' && <Badge tone={status === 'Failed' ? 'danger' : 'neutral'}>{status}</Badge>
      ),
  },
  {
    ...{ key: 'began', name: 'Began', width: '1%', isNumber: true },
    sorts: { descending: 'newest', ascending: 'oldest' },
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

export const SESSION_NOUN = ['session', 'sessions'] as const;

/** Names a session for screen readers: no two of a list sound alike. It begins with what its link shows. */
export const nameSession = ({ riskLevel, botScore, userName, userId, pageUrl, createdAt }: Session, timeZone: string) =>
  [
    riskLevel ? RISK_WORDS[riskLevel] : 'Unscored',
    botScore === null ? 'no score' : `score ${showScore(botScore)}`,
    userName ?? userId ?? 'unmatched',
    showPath(pageUrl),
    showInstant(createdAt, timeZone),
  ].join(', ');
