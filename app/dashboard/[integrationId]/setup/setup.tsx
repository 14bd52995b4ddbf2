'use client';
import { useQuery } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import { type ReactNode, useState } from 'react';
import type { Setup, SetupStep } from '../../../../contract/setup';
import { Badge } from '../../components/badge';
import { Button, ButtonLink } from '../../components/button';
import { CircleCheck, CircleDashed, CircleMinus } from '../../components/icons';
import { PageHeader } from '../../components/page-header';
import { Pending } from '../../components/pending';
import { RoleNote } from '../../components/role-note';
import { Code } from '../../components/states';
import { Time } from '../../components/time';
import { savePreference } from '../../preference';
import { useTRPC } from '../../queries';
import { useStaff } from '../../staff';
import { OriginsForm } from '../settings/allowed-origins';
import { MintDialog } from '../settings/api-keys';
import { CreateSite } from '../settings/site-keys';
import { type PixelTag, SiteTag } from '../settings/site-tag';
import { DocumentLink } from './document-link';
import { FirstEvent } from './first-event';
import { SETUP_COOKIE } from './setup-cookie';
import { countSteps, STEP_WORDS, useSetup } from './use-setup';
import { WebhookStep } from './webhook-step';

/** What a new integration needs, in one list. Each step is done when its data says so. */
export function SetupChecklist({ tag, isDismissed }: { tag: PixelTag; isDismissed: boolean }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const router = useRouter();
  const setup = useSetup({ isLive: true });
  const dismiss = () => {
    // The path tells integrations apart, so that the cookie holds no list of them.
    savePreference(SETUP_COOKIE, isDismissed ? null : 'dismissed', `/dashboard/${integrationId}`);
    // The server renders the menu.
    router.refresh();
  };
  if (!setup.data) return <Pending query={setup} className="h-96" />;
  return (
    <div className="max-w-3xl">
      <PageHeader title="Set-up" about={<span role="status">{countSteps(setup.data)}</span>}>
        {!setup.data.isComplete && (
          <Button onClick={dismiss}>{isDismissed ? 'Show in the menu' : 'Hide from the menu'}</Button>
        )}
      </PageHeader>
      <ol className="space-y-4">
        <Step step="origins" number={1} setup={setup.data}>
          <Origins />
        </Step>
        <Step step="pixel" number={2} setup={setup.data}>
          <Pixel tag={tag} setup={setup.data} />
        </Step>
        <Step step="apiKey" number={3} setup={setup.data}>
          <ApiKeyStep setup={setup.data} host={new URL(tag.src).origin} />
        </Step>
        <Step step="webhook" number={4} setup={setup.data}>
          <WebhookStep setup={setup.data} />
        </Step>
      </ol>
    </div>
  );
}

const STATES = {
  done: { icon: CircleCheck, colour: 'text-human', badge: <Badge tone="human">Done</Badge> },
  open: { icon: CircleDashed, colour: 'text-faint', badge: <Badge>Not done</Badge> },
  absent: { icon: CircleMinus, colour: 'text-faint', badge: <Badge>Not in the plan</Badge> },
};

function Step({
  step,
  number,
  setup,
  children,
}: {
  step: SetupStep;
  number: number;
  setup: Setup;
  children: ReactNode;
}) {
  const isDone = setup.done[step];
  const { icon: Icon, colour, badge } = STATES[isDone === null ? 'absent' : isDone ? 'done' : 'open'];
  return (
    <li className="min-w-0 rounded border border-line bg-surface" data-step={step}>
      <div className="flex min-h-10 flex-wrap items-center gap-2 border-b px-4 py-1">
        <Icon size={18} className={colour} aria-hidden />
        <h2 className="min-w-0 flex-1 font-semibold text-sm">
          {number}. {STEP_WORDS[step]}
        </h2>
        {badge}
      </div>
      <div className="space-y-3 p-4">{children}</div>
    </li>
  );
}

function Origins() {
  const trpc = useTRPC();
  const collecting = useQuery(trpc.sites.getCollecting.queryOptions());
  if (!collecting.data) return <Pending query={collecting} className="h-40" />;
  return (
    <>
      <p className="text-muted">Where your pages are. Nothing that other pages send is kept.</p>
      <OriginsForm allowedOrigins={collecting.data.allowedOrigins} />
      <RoleNote needs="admin" act="change the origins" />
    </>
  );
}

function Pixel({ tag, setup }: { tag: PixelTag; setup: Setup }) {
  const trpc = useTRPC();
  const { isAdmin } = useStaff();
  const [isCreating, setCreating] = useState(false);
  const sites = useQuery(trpc.sites.list.queryOptions());
  const collecting = useQuery(trpc.sites.getCollecting.queryOptions());
  if (!sites.data) return <Pending query={sites} className="h-40" />;
  const usable = sites.data.filter(({ revokedAt }) => revokedAt === null);
  const [site] = usable;
  return (
    <>
      {site ? (
        <SiteTag sites={usable} tag={tag} />
      ) : (
        <>
          <p className="text-muted">A site has a public key, and with it the tag for your pages.</p>
          <Button kind="primary" disabled={!isAdmin} onClick={() => setCreating(true)}>
            Create a site
          </Button>
          <RoleNote needs="admin" act="create a site" />
        </>
      )}
      <CreateSite isOpen={isCreating} onClose={() => setCreating(false)} />
      {site && <FirstEvent setup={setup} siteKey={site.siteKey} origins={collecting.data?.allowedOrigins ?? []} />}
      <p className="text-muted">
        <DocumentLink name="pixel">The pixel</DocumentLink> says how a page names its users, asks for consent, and what
        is collected.
      </p>
    </>
  );
}

function ApiKeyStep({ setup: { keys }, host }: { setup: Setup; host: string }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const { isAdmin } = useStaff();
  const [isMinting, setMinting] = useState(false);
  return (
    <>
      <p>
        {keys.active === 0 ? (
          <span className="text-muted">Your programs read sessions and scores with a key.</span>
        ) : (
          <>
            {keys.active === 1 ? '1 key is valid' : `${keys.active} keys are valid`},{' '}
            {keys.lastUsedAt ? (
              <>
                last used <Time at={keys.lastUsedAt} />.
              </>
            ) : (
              'and none was used yet.'
            )}
          </>
        )}
      </p>
      <Code>{`curl -H "Authorization: Bearer $API_KEY" "${host}/v1/integration"`}</Code>
      <div className="flex flex-wrap gap-2">
        <Button kind={keys.active === 0 ? 'primary' : 'plain'} disabled={!isAdmin} onClick={() => setMinting(true)}>
          Mint a key
        </Button>
        {keys.active > 0 && (
          <ButtonLink href={`/dashboard/${integrationId}/settings?tab=api-keys`}>All keys</ButtonLink>
        )}
      </div>
      <RoleNote needs="admin" act="mint keys" />
      <p className="text-muted">
        <DocumentLink name="quickstart">Quickstart</DocumentLink> has the first calls in curl, TypeScript and Python.{' '}
        <a href="/swagger" className="text-accent underline underline-offset-2">
          Try the API
        </a>{' '}
        in the browser.
      </p>
      <MintDialog isOpen={isMinting} onClose={() => setMinting(false)} />
    </>
  );
}
