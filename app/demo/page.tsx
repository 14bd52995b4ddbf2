import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { notFound } from 'next/navigation';
import { NONCE_HEADER } from '../../server/rest/security-headers.mjs';
import { getService } from '../../server/service';
import { Essay } from './essay';
import { Quiz } from './quiz';
import { VerdictPanel } from './verdict-panel';

export const metadata: Metadata = { title: 'Demo' };

/** A page with the pixel on it, and the verdict that it leads to. It exists only while the demo is on. */
export default async function DemoPage() {
  const nonce = (await headers()).get(NONCE_HEADER) ?? undefined;
  const { demo, env } = getService();
  if (demo === null) notFound();
  return (
    <main className="mx-auto max-w-6xl px-4 pt-8 pb-24 lg:pb-12">
      {/* Exactly as customers include it. The nonce is for the policy of our own pages. */}
      <script async src="/pixel.js" data-site={demo.siteKey} nonce={nonce} />
      <header className="mb-6 max-w-3xl">
        <h1 className="mb-1 font-semibold text-xl">A person or a program?</h1>
        <p className="text-base text-muted">
          Answer the quiz and write a few sentences, by hand or with an agent. The verdict and its reasons form on this
          page meanwhile.{' '}
          <a className="text-accent underline underline-offset-2" href="#disclosure">
            What this page collects
          </a>
        </p>
      </header>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_26rem] xl:grid-cols-[minmax(0,1fr)_30rem]">
        <div className="grid min-w-0 gap-4">
          <Quiz />
          <Essay />
          <Disclosure traceDays={env.TRACE_DAYS} />
        </div>
        <VerdictPanel />
      </div>
    </main>
  );
}

/** Says what the pixel collects on this page. */
function Disclosure({ traceDays }: { traceDays: number }) {
  return (
    <section className="scroll-mt-4 rounded border border-line bg-surface px-4 py-3" aria-labelledby="disclosure">
      <h2 id="disclosure" className="mb-2 font-semibold text-sm">
        What this page collects
      </h2>
      <dl className="grid gap-x-6 gap-y-2 text-muted sm:grid-cols-[6rem_minmax(0,1fr)]">
        <dt className="font-medium text-ink">Sent</dt>
        <dd>
          When and where you move, click, touch and scroll. When you press keys and of which kind they are: letter,
          digit, Enter. How long your answers are, and how much of the essay follows the caret. Your browser, its
          window, processors and memory. A random id that this browser keeps.
        </dd>
        <dt className="font-medium text-ink">Never sent</dt>
        <dd>The text that you write or paste, passwords, which keys you press, pictures of the page, cookies.</dd>
        <dt className="font-medium text-ink">Where to</dt>
        <dd>
          Only to this server. It removes what was sent after {traceDays} {traceDays === 1 ? 'day' : 'days'}; the score
          and its reasons stay longer. If your browser sends Global Privacy Control, nothing is collected.
        </dd>
      </dl>
    </section>
  );
}
