'use client';
import type { ReactNode } from 'react';
import type { Session } from '../../../../contract/sessions';
import { parseUrl } from '../../../../contract/urls';
import { Badge } from '../../components/badge';
import { ShortId } from '../../components/copying';
import { Percent } from '../../components/count';
import { Facts } from '../../components/details-panel';
import { HoverLink } from '../../components/hover-link';
import { ExternalLink } from '../../components/icons';
import { LongValue } from '../../components/long-value';
import { Time } from '../../components/time';
import { SessionsLink, SessionsOf } from './session-links';

const LINK = 'text-accent underline-offset-2 hover:underline';

const WEB_URL = /^https?:\/\//i;

/** Shows path and query of a URL. Anything but http and https is shown as it is. */
export const showPath = (url: string) => {
  const parsed = WEB_URL.test(url) ? parseUrl(url) : null;
  return parsed === null ? url : parsed.pathname + parsed.search;
};

/** A link to an external URL. Only http and https become links. Older facts may have others, which are shown as text. */
export function OutsideLink({ url, children }: { url: string; children: ReactNode }) {
  if (!WEB_URL.test(url)) return <span className="break-all">{url}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer" className={`inline-flex items-center gap-1 break-all ${LINK}`}>
      {children}
      <ExternalLink size={12} className="shrink-0" aria-label="opens outside" />
    </a>
  );
}

/** Longer paths are shown in two lines, with a separate link. */
const MAX_LINK_LENGTH = 100;

/** The path of a page as a link to it. */
function PageLink({ url }: { url: string }) {
  const path = showPath(url);
  if (path.length <= MAX_LINK_LENGTH) return <OutsideLink url={url}>{path}</OutsideLink>;
  return (
    <>
      <LongValue text={url} name="address" />
      {WEB_URL.test(url) && <OutsideLink url={url}>Open the page</OutsideLink>}
    </>
  );
}

/** Who the session was and where it happened. `base` is the integration's path. */
export function SessionFacts({ session, base, device }: { session: Session; base: string; device?: ReactNode }) {
  const { userId, userName, userUrl, courseId, deviceFingerprint, correlationConfidence } = session;
  return (
    <Facts
      facts={[
        ['Session', <ShortId key="id" id={session.id} name="session id" />],
        [
          'User',
          userId && (
            <span key="user" className="flex flex-wrap items-center gap-x-2">
              <HoverLink
                className={`wrap-anywhere line-clamp-2 ${LINK}`}
                title={userName ?? userId}
                href={`${base}/users/${encodeURIComponent(userId)}`}
              >
                {userName ?? userId}
              </HoverLink>
              <SessionsOf filter={{ userId }} of={userName ?? userId} />
              {correlationConfidence !== null && (
                <span className="text-faint text-xs">
                  <Percent share={correlationConfidence} /> sure
                </span>
              )}
              {userUrl && <OutsideLink url={userUrl}>LMS</OutsideLink>}
            </span>
          ),
        ],
        [
          'Course',
          courseId && (
            <span key="course" className="flex flex-wrap items-center gap-x-2">
              <HoverLink
                className={`wrap-anywhere line-clamp-2 ${LINK}`}
                title={courseId}
                href={`${base}/courses/${encodeURIComponent(courseId)}`}
              >
                {courseId}
              </HoverLink>
              <SessionsOf filter={{ courseId }} of="the course" />
            </span>
          ),
        ],
        ['First page', <PageLink key="page" url={session.pageUrl} />],
        [
          'Origin',
          <SessionsLink key="origin" filter={{ origin: session.origin }} title="Sessions of this origin">
            {session.origin}
          </SessionsLink>,
        ],
        ['Browser', session.userAgentSummary],
        [
          'Device',
          <span key="device" className="flex flex-wrap items-center gap-2">
            <span className="capitalize">{session.deviceType}</span>
            {deviceFingerprint && (
              <span className="inline-flex items-center gap-1">
                <ShortId id={deviceFingerprint} name="device fingerprint" />
                <SessionsOf filter={{ fingerprint: deviceFingerprint }} of="the device" />
              </span>
            )}
            {device}
          </span>,
        ],
        ['Country', session.country],
        [
          'Status',
          <Badge key="status" tone={session.status === 'Failed' ? 'danger' : 'neutral'}>
            {session.status}
          </Badge>,
        ],
        ['Began', <Time key="began" at={session.createdAt} />],
        ['Changed', <Time key="changed" at={session.updatedAt} />],
      ]}
    />
  );
}
