'use client';
import { useQuery } from '@tanstack/react-query';
import type { Session } from '../../../../contract/sessions';
import { ButtonLink, IconButton } from '../../components/button';
import { DetailsPanel } from '../../components/details-panel';
import { ChevronLeft, ChevronRight } from '../../components/icons';
import { Pending } from '../../components/pending';
import { useTRPC } from '../../queries';
import type { useLabeling } from './labeling';
import { SessionFacts } from './session-facts';
import { Timeline } from './timeline';
import { VerdictBar } from './verdict-bar';
import { VerdictHistory } from './verdict-history';

interface SessionPanelProps {
  sessionId: string;
  /** The session from the loaded list, if it is there. */
  listed: Session | undefined;
  base: string;
  /** The address of the session's page. */
  href: string;
  labeling: ReturnType<typeof useLabeling>;
  onStep(by: 1 | -1): void;
  onClose(): void;
}

/** The selected session, with enough detail to decide without leaving the list. */
export function SessionPanel({ sessionId, listed, base, href, labeling, onStep, onClose }: SessionPanelProps) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.sessions.get.queryOptions({ sessionId }), enabled: !listed });
  const details = useQuery(trpc.sessions.getTimeline.queryOptions({ sessionId }));
  const session = listed ?? query.data;
  return (
    <DetailsPanel title={session?.userName ?? 'Session'} onClose={onClose}>
      {session ? (
        <div className="space-y-4">
          <VerdictBar
            session={session}
            details={details.data}
            canWrite={labeling.canWrite}
            onLabel={(verdict) => labeling.label(session, verdict)}
            onExplain={() => void labeling.explain(session)}
            onRemove={() => labeling.removeLabel(session)}
          />
          <div className="flex items-center gap-2">
            <ButtonLink href={href}>Open session</ButtonLink>
            <IconButton label="Previous session" className="ml-auto" onClick={() => onStep(-1)}>
              <ChevronLeft size={16} aria-hidden />
            </IconButton>
            <IconButton label="Next session" onClick={() => onStep(1)}>
              <ChevronRight size={16} aria-hidden />
            </IconButton>
          </div>
          {details.data ? (
            <Timeline details={details.data} height={90} />
          ) : (
            <Pending query={details} className="h-[230px]" />
          )}
          <VerdictHistory sessionId={sessionId} />
          <SessionFacts session={session} base={base} />
        </div>
      ) : (
        <Pending query={query} className="h-96" />
      )}
    </DetailsPanel>
  );
}
