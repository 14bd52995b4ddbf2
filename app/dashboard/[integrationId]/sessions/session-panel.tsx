'use client';
import { useQuery } from '@tanstack/react-query';
import type { Session } from '../../../../contract/sessions';
import { ButtonLink } from '../../components/button';
import { DetailsPanel } from '../../components/details-panel';
import { Pending } from '../../components/pending';
import { Skeleton } from '../../components/states';
import { useTRPC } from '../../queries';
import type { useLabeling } from './labeling';
import { SessionFacts } from './session-facts';
import { Timeline } from './timeline';
import { VerdictBar } from './verdict-bar';

interface SessionPanelProps {
  sessionId: string;
  /** The session from the loaded list, if it is there. */
  listed: Session | undefined;
  base: string;
  labeling: ReturnType<typeof useLabeling>;
  onClose(): void;
}

/** The selected session, with enough detail to decide without leaving the list. */
export function SessionPanel({ sessionId, listed, base, labeling, onClose }: SessionPanelProps) {
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
          />
          <ButtonLink href={`${base}/sessions/${encodeURIComponent(sessionId)}`}>Open session</ButtonLink>
          {details.data ? <Timeline details={details.data} height={90} /> : <Skeleton className="h-[230px]" />}
          <SessionFacts session={session} base={base} />
        </div>
      ) : (
        <Pending query={query} className="h-96" />
      )}
    </DetailsPanel>
  );
}
