'use client';
import type { DemoSession } from '../../contract/demo';
import type { RiskLevel } from '../../contract/sessions';
import { RISK_WORDS, RiskBadge, RiskShape } from '../dashboard/components/badge';
import { Button, ButtonLink } from '../dashboard/components/button';
import { joinClasses } from '../dashboard/components/classes';
import { showScore } from '../dashboard/components/score-bar';
import { FindingList } from './finding-list';
import { useWatchedSession, type Watched } from './watch-session';

/** The verdict of this tab's session as it forms, and what it rests on. Its upper part never changes its height. */
export function VerdictPanel() {
  const watched = useWatchedSession();
  const session = watched.verdict?.session ?? null;
  const level = session?.riskLevel ?? null;
  return (
    <section
      id="verdict"
      aria-labelledby="verdict-title"
      className="min-w-0 scroll-mt-4 rounded border border-line bg-surface"
    >
      <div className="flex min-h-10 items-center justify-between gap-2 border-b px-4 py-1">
        <h2 id="verdict-title" className="font-semibold text-sm">
          Verdict
        </h2>
        <span className="text-faint text-xs">{session?.ruleSetVersion && `Rules ${session.ruleSetVersion}`}</span>
      </div>
      <Score level={level} score={session?.botScore ?? null} />
      <p role="status" className="sr-only">
        {level && `The session looks like this: ${RISK_WORDS[level]}`}
      </p>
      <Kept session={session} />
      <End watched={watched} session={session} />
      <FindingList findings={session?.findings ?? []} />
      <a
        href="#verdict"
        className="fixed inset-x-0 bottom-0 z-10 flex h-12 items-center justify-between gap-3 border-t bg-surface px-4 lg:hidden"
      >
        <span className="font-medium">Verdict</span>
        <span className="flex items-center gap-2">
          {session?.botScore != null && <span>{showScore(session.botScore)} of 100</span>}
          <RiskBadge level={level} />
        </span>
      </a>
    </section>
  );
}

const FILLS: Record<RiskLevel, string> = { bot: 'bg-bot-fill', medium: 'bg-medium-fill', human: 'bg-human-fill' };
const TEXTS: Record<RiskLevel, string> = { bot: 'text-bot', medium: 'text-medium', human: 'text-human' };

function Score({ level, score }: { level: RiskLevel | null; score: number | null }) {
  return (
    <div className="px-4 pt-4 pb-3">
      <div className="flex h-8 items-center justify-between gap-3">
        <span
          data-risk={level ?? 'none'}
          className={joinClasses('flex items-center gap-2 font-semibold text-xl', level ? TEXTS[level] : 'text-faint')}
        >
          {level && <RiskShape level={level} />}
          {level ? RISK_WORDS[level] : 'Not scored yet'}
        </span>
        <span className="text-muted">{score !== null && `Score ${showScore(score)} of 100`}</span>
      </div>
      <div className="mt-2 h-2 overflow-hidden rounded bg-sunken" aria-hidden>
        {level && score !== null && (
          <div
            className={joinClasses('h-full rounded', FILLS[level])}
            style={{ width: `${Math.max(score, 0.01) * 100}%` }}
          />
        )}
      </div>
    </div>
  );
}

const showBytes = (bytes: number) => (bytes < 10_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} KB`);

/** What has arrived of the session. */
function Kept({ session }: { session: DemoSession | null }) {
  const kept = session?.kept;
  const stats: [name: string, value: string | undefined][] = [
    ['Batches', kept && String(kept.batches)],
    ['Events', kept && (kept.events === null ? 'many' : String(kept.events))],
    ['Stored', kept && showBytes(kept.bytes)],
  ];
  return (
    <dl className="grid grid-cols-3 gap-px border-y bg-line">
      {stats.map(([name, value]) => (
        <div key={name} className="bg-surface px-4 py-2">
          <dt className="text-muted text-xs">{name}</dt>
          <dd className="font-semibold text-lg">{value ?? <span className="text-faint">–</span>}</dd>
        </div>
      ))}
    </dl>
  );
}

const TROUBLE_WORDS = {
  privacyControl: 'Your browser sends Global Privacy Control, so nothing is collected.',
  silent: 'Nothing has arrived. Does something block /pixel.js?',
  unreachable: 'The server cannot be reached. Trying again …',
};

/** The end of the session: the button, then what came of it. */
function End({ watched, session }: { watched: Watched; session: DemoSession | null }) {
  const isClosed = session?.closedAt != null;
  return (
    <div className="flex h-28 flex-col justify-between gap-2 border-b px-4 py-3">
      <p className="text-muted" role="status">
        {watched.trouble ? TROUBLE_WORDS[watched.trouble] : describeState(session, watched.isEnding)}
      </p>
      <div className="flex flex-wrap gap-2">
        {isClosed ? (
          <>
            <ButtonLink kind="primary" href={session.dashboardPath} prefetch={false}>
              Open in the dashboard
            </ButtonLink>
            <Button onClick={() => window.location.reload()}>New session</Button>
          </>
        ) : (
          <Button onClick={watched.end} disabled={session === null || watched.isEnding}>
            End this session
          </Button>
        )}
      </div>
    </div>
  );
}

function describeState(session: DemoSession | null, isEnding: boolean): string {
  if (session === null) return 'The first batch is sent one second after the page has loaded.';
  if (session.closedAt === null)
    return isEnding ? 'Closing the session …' : 'The session is open. Webhooks are decided when it closes.';
  if (session.botDetected === null) return 'The session is closed. BotDetected did not fire.';
  const { deliveries } = session.botDetected;
  if (deliveries === 0) return 'The session is closed. BotDetected fired; no webhook subscribes to it yet.';
  return `The session is closed. BotDetected fired and goes to ${deliveries} ${deliveries === 1 ? 'webhook' : 'webhooks'}.`;
}
