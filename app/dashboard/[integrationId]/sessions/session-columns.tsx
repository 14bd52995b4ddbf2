import type { Session } from '../../../../contract/sessions';
import { Badge, RiskBadge } from '../../components/badge';
import type { Column } from '../../components/data-table';
import { ScoreBar } from '../../components/score-bar';
import { Time } from '../../components/time';
import { describeFlag } from './flag-words';
import { showPath } from './session-facts';

/** The columns of a session list. */
export const SESSION_COLUMNS: Column<Session>[] = [
  { key: 'risk', name: 'Risk', width: '1%', cell: ({ riskLevel }) => <RiskBadge level={riskLevel} /> },
  {
    key: 'score',
    name: 'Score',
    width: '1%',
    cell: ({ botScore, riskLevel }) => <ScoreBar score={botScore} level={riskLevel} />,
  },
  {
    key: 'user',
    name: 'User',
    cell: ({ userName, userId }) => (
      <span className="block max-w-20 truncate @lg:max-w-44">
        {userName ?? userId ?? <span className="text-faint">Unmatched</span>}
      </span>
    ),
  },
  {
    key: 'page',
    name: 'First page',
    from: 'md',
    cell: ({ pageUrl }) => (
      <span className="block max-w-40 truncate text-muted @4xl:max-w-60" title={pageUrl}>
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
        <span className="block max-w-56 truncate text-muted" title={[first, ...others].map(describeFlag).join('\n')}>
          {describeFlag(first)}
          {others.length > 0 && <span className="text-faint"> +{others.length}</span>}
        </span>
      ),
  },
  { key: 'browser', name: 'Browser', from: 'lg', cell: ({ browser }) => <span className="text-muted">{browser}</span> },
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
  { key: 'began', name: 'Began', width: '1%', isNumber: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
