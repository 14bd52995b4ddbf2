'use client';
import { QueryClientProvider } from '@tanstack/react-query';
import { createTRPCClient, httpLink } from '@trpc/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';
import { type ReactNode, useState } from 'react';
import type { AppRouter } from '../../server/procedures/router';
import { isUnattended } from './attendance';
import { createQueryClient } from './query-client';
import { useStaff } from './staff';

const context = createTRPCContext<AppRouter>();

/** The procedures as TanStack Query options: `useQuery(trpc.stats.get.queryOptions({}))`. */
export const useTRPC = context.useTRPC;

/** The procedures as plain calls, for what must not leave the page when the caller is signed out. */
export const useTRPCClient = context.useTRPCClient;

/**
 * Sends calls for one integration and the account that the page shows. Also set the ids of both as its `key`, so that no answer of
 * another one remains.
 */
export function QueriesProvider({ integrationId, children }: { integrationId: string; children: ReactNode }) {
  const { staff } = useStaff();
  const [queryClient] = useState(createQueryClient);
  const [trpcClient] = useState(() =>
    createTRPCClient<AppRouter>({
      links: [
        httpLink({
          url: '/api/trpc',
          headers: () => ({
            ...{ 'x-integration-id': integrationId, 'x-staff-id': staff.id },
            ...(isUnattended() && { 'x-unattended': '1' }),
          }),
        }),
      ],
    }),
  );
  return (
    <QueryClientProvider client={queryClient}>
      <context.TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {children}
      </context.TRPCProvider>
    </QueryClientProvider>
  );
}
