'use client';
import type { Setup } from '../../../../contract/setup';
import { Time } from '../../components/time';
import { SiteCheckForm } from '../settings/site-check';

/** Whether the pixel has sent anything: live while nothing has come, with what to check. */
export function FirstEvent({ setup, siteKey, origins }: { setup: Setup; siteKey: string; origins: string[] }) {
  const { firstEvent } = setup;
  return (
    <div className="space-y-3 rounded border border-line bg-sunken p-3">
      <p role="status" className="flex items-center gap-2">
        <span
          aria-hidden
          className={`size-2 shrink-0 rounded-full ${firstEvent ? 'bg-human-fill' : 'animate-pulse bg-medium-fill'}`}
        />
        {firstEvent ? (
          <span className="min-w-0 break-words">
            <strong className="font-semibold">First event received</strong>
            {firstEvent.origin && ` from ${firstEvent.origin}`}, <Time at={firstEvent.at} />.
          </span>
        ) : (
          <span>Waiting for the first event. This page notices it by itself.</span>
        )}
      </p>
      {!firstEvent && (
        <>
          <ol className="list-decimal space-y-1 pl-5 text-muted">
            <li>
              Open a page with the tag, at{' '}
              {origins.length === 0 ? 'an allowed origin (step 1: there is none yet)' : origins.slice(0, 3).join(', ')}
              {origins.length > 3 && ' or another allowed origin'}. Scheme, host and port must be the same.
            </li>
            <li>Move the pointer or type: the first event leaves within a few seconds.</li>
            <li>A browser with Global Privacy Control sends nothing, and a blocker may hold the script back.</li>
            <li>If the page has a Content-Security-Policy, the browser’s console says what it refused.</li>
          </ol>
          <details>
            <summary className="cursor-pointer font-medium">Check why a page sends nothing</summary>
            <div className="mt-3">
              <SiteCheckForm key={siteKey} siteKey={siteKey} origin={origins[0]} />
            </div>
          </details>
        </>
      )}
    </div>
  );
}
