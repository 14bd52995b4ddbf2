'use client';
import { useQuery } from '@tanstack/react-query';
import type { StaffSessionDetails } from '../../../../contract/session-events';
import type { Session, Verdict } from '../../../../contract/sessions';
import { Badge, RiskBadge, RiskShape } from '../../components/badge';
import { Button } from '../../components/button';
import { showScore } from '../../components/score-bar';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { FlagLink } from './session-links';
import { REASON_WORDS } from './verdict-words';

const FLAG_LEVEL = { bot: 'text-bot', medium: 'text-medium', human: 'text-human' };

interface VerdictBarProps {
  session: Session;
  /** Say who labelled it. Undefined while they load. */
  details: StaffSessionDetails | undefined;
  /** Leaves out score, class and flags, which are hidden until the verdict. */
  isBlind?: boolean;
  canWrite: boolean;
  onLabel(verdict: Verdict): void;
  /** Asks for the reasons of the label. */
  onExplain?(): void;
  onRemove?(): void;
}

/** The session's class, the reasons for it, and the reviewer's label. */
export function VerdictBar(props: VerdictBarProps) {
  const { session, details, isBlind = false, canWrite, onLabel, onExplain, onRemove } = props;
  const { botScore, riskLevel, label, detectionFlags } = session;
  // The two were not read at the same time.
  const labeledBy = details?.labeledAt === label?.labeledAt ? details?.labeledBy : null;
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        {!isBlind && (
          <>
            <div className="flex items-baseline gap-1">
              <span
                className={`font-semibold text-3xl leading-9 ${riskLevel ? FLAG_LEVEL[riskLevel] : 'text-faint'}`}
                style={{ fontSize: '1.875rem' }}
              >
                {botScore === null ? '–' : showScore(botScore)}
              </span>
              <span className="text-faint text-xs">of 100</span>
            </div>
            <RiskBadge level={riskLevel} />
          </>
        )}
        <div className="flex items-center gap-2">
          <span className="text-muted text-xs">Label as</span>
          {(['bot', 'human'] as const).map((verdict) => (
            <Button
              key={verdict}
              disabled={!canWrite}
              aria-pressed={label?.verdict === verdict}
              title={canWrite ? `Label as ${verdict} (${verdict[0]})` : 'Your role is viewer: you cannot label'}
              onClick={() => onLabel(verdict)}
              className={
                label?.verdict === verdict
                  ? verdict === 'bot'
                    ? 'border-bot! bg-bot-soft! text-bot!'
                    : 'border-human! bg-human-soft! text-human!'
                  : undefined
              }
            >
              <RiskShape level={verdict} />
              {verdict === 'bot' ? 'Bot' : 'Human'}
            </Button>
          ))}
        </div>
      </div>
      {label && (
        <div className="space-y-1.5 border-line border-l-2 pl-3">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="wrap-anywhere text-muted text-xs">
              Labelled {label.verdict} {labeledBy && `by ${labeledBy} `}
              <Time at={label.labeledAt} />
              {label.confidence && `, ${label.confidence} confidence`}
            </span>
            {canWrite && onExplain && (
              <Button isSmall onClick={onExplain} title="Reasons, notes and confidence (r)">
                Reason …
              </Button>
            )}
            {canWrite && onRemove && (
              <Button isSmall kind="quiet" onClick={onRemove} title="The score decides again">
                Remove label
              </Button>
            )}
          </div>
          <LabelReasons sessionId={session.id} labeledAt={label.labeledAt} />
          {label.notes && <p className="wrap-anywhere line-clamp-6 text-muted">“{label.notes}”</p>}
        </div>
      )}
      {!isBlind && (
        <ul className="flex flex-wrap gap-1.5" aria-label="What was noticed">
          {detectionFlags.map((flag) => (
            <li key={flag} className="min-w-0">
              <Badge title={flag}>
                <FlagLink flag={flag} />
              </Badge>
            </li>
          ))}
          {detectionFlags.length === 0 && <li className="text-faint">Nothing was flagged.</li>}
        </ul>
      )}
    </div>
  );
}

function LabelReasons({ sessionId, labeledAt }: { sessionId: string; labeledAt: string }) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.sessions.getHistory.queryOptions({ sessionId }));
  const reasons = data?.steps.findLast(({ at, labeledBy }) => at === labeledAt && labeledBy !== null)?.reasons ?? [];
  if (reasons.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-1.5" aria-label="Reasons of the reviewer">
      {reasons.map((reason) => (
        <li key={reason}>
          <Badge tone="accent">{REASON_WORDS[reason]}</Badge>
        </li>
      ))}
    </ul>
  );
}
