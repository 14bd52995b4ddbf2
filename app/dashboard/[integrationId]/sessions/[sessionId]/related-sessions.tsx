'use client';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import type { RelatedSession, SessionContext, SketchedSession } from '../../../../../contract/session-context';
import { Badge, RISK_WORDS, RiskShape } from '../../../components/badge';
import { joinClasses } from '../../../components/classes';
import { showCount } from '../../../components/count';
import { HoverLink } from '../../../components/hover-link';
import { Section } from '../../../components/page-header';
import { ScoreBar, showScore } from '../../../components/score-bar';
import { ErrorState, Skeleton } from '../../../components/states';
import { showDuration, Time, useTimeZone } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { showInstant, showMinute, showSecond } from '../../../time-zone';
import { SessionsLink, SessionsOf } from '../session-links';

const LINK = 'text-accent underline-offset-2 hover:underline';
const COLOURS = { bot: 'text-bot', medium: 'text-medium', human: 'text-human' };

interface RelatedSessionsProps {
  sessionId: string;
  base: string;
}

/** What to compare the session with: its user before, other users of its device, and its course in the same minute. */
export function RelatedSessions({ sessionId, base }: RelatedSessionsProps) {
  const trpc = useTRPC();
  const query = useQuery(trpc.sessions.getContext.queryOptions({ sessionId }));
  if (query.error && !query.data)
    return (
      <Section title="Earlier sessions">
        <ErrorState message={describeError(query.error)} onRetry={() => void query.refetch()} />
      </Section>
    );
  if (!query.data) return <Skeleton className="h-64" />;
  const { earlier, device, neighbours } = query.data;
  return (
    <div className="space-y-4">
      <EarlierSessions earlier={earlier} base={base} />
      <DeviceUsers device={device} base={base} />
      <Neighbours neighbours={neighbours} base={base} />
    </div>
  );
}

/** Writes how many of all are shown: `12 of 40`, `20 of more than 200`. */
const showPart = (shown: number, { total, hasMore }: { total: number; hasMore: boolean }) =>
  `${shown} of ${hasMore ? 'more than ' : ''}${showCount(total)}`;

const hrefOf = (base: string, id: string) => `${base}/sessions/${encodeURIComponent(id)}`;

function EarlierSessions({ earlier, base }: { earlier: SessionContext['earlier']; base: string }) {
  return (
    <Section
      title="Earlier sessions"
      actions={
        earlier &&
        earlier.sessions.length > 0 && (
          <SessionsLink filter={{ userId: earlier.userId }} className={`text-xs ${LINK}`}>
            {showPart(earlier.sessions.length, earlier)}
          </SessionsLink>
        )
      }
    >
      {earlier === null ? (
        <p className="text-faint">Nobody knows whose session this is.</p>
      ) : earlier.sessions.length === 0 ? (
        <p className="text-faint">This is the first session of the user.</p>
      ) : (
        <ul className="grid grid-cols-3 gap-2 sm:grid-cols-4 lg:grid-cols-3" aria-label="Earlier sessions of the user">
          {earlier.sessions.map((session) => (
            <li key={session.id} className="min-w-0">
              <SmallMultiple session={session} base={base} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const describeVerdict = ({ verdict }: RelatedSession) => verdict && `labelled ${verdict}`;

function SmallMultiple({ session, base }: { session: SketchedSession; base: string }) {
  const { timeZone } = useTimeZone();
  const { id, botScore, riskLevel, verdict, durationSeconds, activity, createdAt } = session;
  const length = showDuration(durationSeconds * 1000);
  const words = [
    ...[botScore === null ? 'not scored' : `score ${showScore(botScore)}`, riskLevel && RISK_WORDS[riskLevel]],
    ...[describeVerdict(session), length, `began ${showInstant(createdAt, timeZone)}`],
  ];
  return (
    <Link
      href={hrefOf(base, id)}
      prefetch={false}
      // What is seen in the link is not said twice.
      title={words.filter(Boolean).join(', ')}
      className="block rounded border border-line p-2 hover:border-line-strong hover:bg-sunken"
    >
      <span className="flex items-center justify-between gap-1">
        <span className="sr-only">Session, {riskLevel ? RISK_WORDS[riskLevel] : 'not scored'}, score </span>
        <span className={joinClasses('font-semibold text-base', riskLevel ? COLOURS[riskLevel] : 'text-faint')}>
          {botScore === null ? '–' : showScore(botScore)}
        </span>
        {verdict ? (
          <Badge tone={verdict} title={`Labelled ${verdict}`}>
            <RiskShape level={verdict} />
            {verdict}
          </Badge>
        ) : (
          riskLevel && (
            <span className={COLOURS[riskLevel]} title={RISK_WORDS[riskLevel]}>
              <RiskShape level={riskLevel} />
            </span>
          )
        )}
      </span>
      <ActivitySketch activity={activity} />
      <span className="block truncate text-muted text-xs">{length}</span>
      <span className="block truncate text-faint text-xs">
        <Time at={createdAt} />
      </span>
    </Link>
  );
}

/** Events over the length of a session, as bars. Few events are seen too: heights follow the square root. */
function ActivitySketch({ activity }: { activity: number[] }) {
  const most = Math.sqrt(Math.max(1, ...activity));
  return (
    <svg
      viewBox={`0 0 ${activity.length} 10`}
      preserveAspectRatio="none"
      className="my-1 block h-6 w-full border-line border-b fill-neutral-fill"
      aria-hidden="true"
    >
      {activity.map((events, part) => {
        const height = (Math.sqrt(Math.max(0, events)) / most) * 10;
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
        return <rect key={part} x={part + 0.1} y={10 - height} width={0.8} height={height} />;
      })}
    </svg>
  );
}

function DeviceUsers({ device, base }: { device: SessionContext['device']; base: string }) {
  return (
    <Section
      title="Other users of the device"
      actions={device && <SessionsOf filter={{ fingerprint: device.fingerprint }} of="the device" />}
    >
      {device === null ? (
        <p className="text-faint">The session named no device.</p>
      ) : (
        <>
          <p className="text-faint text-xs">{describeDevice(device)}</p>
          {device.users.length > 0 && (
            <ul className="mt-2 space-y-1" aria-label="Other users of the device">
              {device.users.map(({ userId, userName, sessionCount }) => (
                <li key={userId} className="flex min-h-6 items-center justify-between gap-3">
                  <HoverLink
                    className={`min-w-0 truncate ${LINK}`}
                    title={userName ?? userId}
                    href={`${base}/users/${encodeURIComponent(userId)}`}
                  >
                    {userName ?? userId}
                  </HoverLink>
                  <SessionsLink
                    filter={{ userId, fingerprint: device.fingerprint }}
                    label={`${countSessions(sessionCount)} of ${userName ?? userId} on the device`}
                    className={`shrink-0 text-xs ${LINK}`}
                  >
                    {countSessions(sessionCount)}
                  </SessionsLink>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Section>
  );
}

const countSessions = (count: number) => `${showCount(count)} ${count === 1 ? 'session' : 'sessions'}`;

const MAX_COUNTED = 200;

function describeDevice({
  users,
  userCount,
  unmatchedCount,
  sessionCount,
  hasMoreSessions,
}: NonNullable<SessionContext['device']>) {
  const all = userCount > MAX_COUNTED ? `more than ${MAX_COUNTED}` : showCount(userCount);
  const who =
    userCount === 0
      ? 'Nobody else'
      : users.length < userCount
        ? `${users.length} of ${all} other users`
        : `${all} other ${userCount === 1 ? 'user' : 'users'}`;
  const where = hasMoreSessions
    ? `in the latest ${showCount(sessionCount)} sessions of the device`
    : `in ${sessionCount === 1 ? 'the only session' : `all ${showCount(sessionCount)} sessions`} of the device`;
  const unmatched =
    unmatchedCount === 0 ? '' : ` ${showCount(unmatchedCount)} ${unmatchedCount === 1 ? 'has' : 'have'} no known user.`;
  return `${who} ${where}.${unmatched}`;
}

function Neighbours({ neighbours, base }: { neighbours: SessionContext['neighbours']; base: string }) {
  const { timeZone } = useTimeZone();
  return (
    <Section
      title="Same course, same minute"
      actions={
        neighbours &&
        neighbours.sessions.length > 0 && (
          <SessionsLink
            filter={{ courseId: neighbours.courseId, startDate: neighbours.from, endDate: neighbours.to }}
            className={`text-xs ${LINK}`}
          >
            {showPart(neighbours.sessions.length, neighbours)}
          </SessionsLink>
        )
      }
    >
      {neighbours === null ? (
        <p className="text-faint">The session belongs to no course.</p>
      ) : neighbours.sessions.length === 0 ? (
        <p className="text-faint">
          No other session of the course began in the minute from {showMinute(neighbours.from, timeZone)}.
        </p>
      ) : (
        <ul className="space-y-1" aria-label="Sessions of the course in the same minute">
          {neighbours.sessions.map((session) => (
            <li key={session.id} className="flex min-h-6 items-center gap-3">
              <span className="shrink-0 text-faint text-xs" title={showInstant(session.createdAt, timeZone)}>
                {showSecond(session.createdAt, timeZone)}
              </span>
              <HoverLink
                className={`min-w-0 flex-1 truncate ${LINK}`}
                title={session.userName ?? session.userId ?? undefined}
                aria-label={`${nameOf(session)}, ${showSecond(session.createdAt, timeZone)}`}
                href={hrefOf(base, session.id)}
              >
                {nameOf(session)}
              </HoverLink>
              {session.verdict && <Badge tone={session.verdict}>{session.verdict}</Badge>}
              <ScoreBar score={session.botScore} level={session.riskLevel} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const nameOf = ({ userName, userId }: RelatedSession) => userName ?? userId ?? 'Unmatched session';
