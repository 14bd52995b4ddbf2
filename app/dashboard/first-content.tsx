import { dehydrate, HydrationBoundary, type QueryClient } from '@tanstack/react-query';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { cookies } from 'next/headers';
import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { appRouter } from '../../server/procedures/router';
import { getService } from '../../server/service';
import type { Calendar } from './date-range';
import { createQueryClient } from './query-client';
import { requireStaff } from './staff-session';
import { readTimeZone, TIME_ZONE_COOKIE } from './time-zone';

/** The props that Next passes to a page of an integration. `P` holds its other path parameters. */
export interface PageProps<P extends Record<string, string> = Record<never, string>> {
  params: Promise<{ integrationId: string } & P>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/**
 * Opens a page of an integration. It returns the decoded path parameters, the query, the signed-in staff, the time with its zone, and a caller
 * for the procedures of the first content, which needs no HTTP. Fill `queryClient` with `prefetchQuery` (the browser
 * shows an error) or `fetchQuery` (it throws). `route` is the page's folder, so that sign-in leads back to this exact
 * address.
 */
export async function openPage<P extends Record<string, string>>(props: PageProps<P>, route: string) {
  const raw = (await props.params) as Record<string, string>;
  const search = readSearch(await props.searchParams);
  const path = route.replace(/\[(\w+)\]/g, (_, name: string) => raw[name] ?? '');
  const staff = await requireStaff(`/dashboard/${raw.integrationId}/${path}${search.size > 0 ? `?${search}` : ''}`);
  const params = Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [name, decodeURIComponent(value)]),
  ) as Awaited<PageProps<P>['params']>;
  const queryClient = createQueryClient();
  const { integrationId } = params;
  // The page only reads, so no audit entry needs the client's address.
  const caller = { kind: 'staff', staff, integrationId, clientAddress: null } as const;
  const ctx = { service: getService(), caller };
  const trpc = createTRPCOptionsProxy({ router: appRouter, ctx, queryClient });
  const timeZone = readTimeZone((await cookies()).get(TIME_ZONE_COOKIE)?.value);
  const calendar: Calendar = { nowMs: Date.now(), timeZone };
  return { params, search, trpc, queryClient, staff, calendar };
}

function readSearch(given: Record<string, string | string[] | undefined>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first) search.set(name, first);
  }
  return search;
}

/** Awaits the page's main record. Shows `not found` if it does not exist, or if the id in the page's address is none (BAD_REQUEST). */
export async function orNotFound<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    if (code === 'NOT_FOUND' || code === 'BAD_REQUEST') notFound();
    throw error;
  }
}

/** Passes the data that the server fetched to the page's queries in the browser. */
export function FirstContent({ queryClient, children }: { queryClient: QueryClient; children: ReactNode }) {
  return <HydrationBoundary state={dehydrate(queryClient)}>{children}</HydrationBoundary>;
}
