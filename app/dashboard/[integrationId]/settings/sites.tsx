'use client';
import { useQuery } from '@tanstack/react-query';
import { Section } from '../../components/page-header';
import { Pending } from '../../components/pending';
import { useTRPC } from '../../queries';
import { AllowedOrigins } from './allowed-origins';
import { Identity, PrivacyControl } from './identity';
import { SiteCheckForm } from './site-check';
import { SiteKeys } from './site-keys';
import { type PixelTag, SiteTag } from './site-tag';

const REFRESH_MS = 2_000;

/** What it takes to collect from pages: allowed origins, a site key, the tag; and whether anything has arrived. */
export function Sites({ tag }: { tag: PixelTag }) {
  const trpc = useTRPC();
  const sites = useQuery(
    trpc.sites.list.queryOptions(undefined, {
      // Until each site has received something, so that staff see the first event while they set it up.
      refetchInterval: ({ state }) =>
        state.data?.some(({ revokedAt, firstReceivedAt }) => revokedAt === null && firstReceivedAt === null)
          ? REFRESH_MS
          : false,
    }),
  );
  const collecting = useQuery(trpc.sites.getCollecting.queryOptions());
  const usable = sites.data?.filter(({ revokedAt }) => revokedAt === null) ?? [];
  return (
    <div className="max-w-5xl space-y-4">
      <SiteKeys sites={sites} />
      {collecting.data ? (
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <div className="min-w-0 space-y-4">
            <AllowedOrigins allowedOrigins={collecting.data.allowedOrigins} />
            <Identity collecting={collecting.data} />
            <PrivacyControl mayIgnore={collecting.data.mayIgnorePrivacyControl} />
          </div>
          <div className="min-w-0 space-y-4">
            {usable.length > 0 && (
              <Section title="Tag">
                <SiteTag sites={usable} tag={tag} />
              </Section>
            )}
            <Section title="Why does a page send nothing?">
              <SiteCheckForm
                key={usable[0]?.id}
                siteKey={usable[0]?.siteKey}
                origin={collecting.data.allowedOrigins[0]}
              />
            </Section>
          </div>
        </div>
      ) : (
        <Pending query={collecting} className="h-96" />
      )}
    </div>
  );
}
