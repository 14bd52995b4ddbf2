import './evidence.css';
import type { Metadata } from 'next';
import { openPage, orNotFound, type PageProps } from '../../../../first-content';
import { EvidenceDocument } from './evidence-document';
import { PrintButton } from './print-button';

export const metadata: Metadata = { title: 'Evidence of a session' };

/** One session as a document for print. The server writes all of it, so it needs no script except for the button that prints. */
export default async function Page(props: PageProps<{ sessionId: string }>) {
  const { params, trpc, queryClient } = await openPage(props, 'sessions/[sessionId]/evidence');
  const { integrationId, sessionId } = params;
  const report = await orNotFound(queryClient.fetchQuery(trpc.sessions.getEvidenceReport.queryOptions({ sessionId })));
  const path = `/dashboard/${encodeURIComponent(integrationId)}/sessions/${encodeURIComponent(sessionId)}`;
  return (
    <>
      <div className="mx-auto mb-4 flex max-w-[56rem] flex-wrap items-center justify-between gap-2 print:hidden">
        <a href={path} className="text-accent underline-offset-2 hover:underline">
          Back to the session
        </a>
        <span className="flex gap-2">
          <a
            href={`${path}/evidence/report.json`}
            download
            className="inline-flex h-8 items-center rounded border border-line-strong bg-surface px-3 font-medium text-ink hover:bg-sunken"
          >
            JSON
          </a>
          <PrintButton />
        </span>
      </div>
      <EvidenceDocument report={report} />
    </>
  );
}
