'use client';
import {
  type MutationCacheNotifyEvent,
  type QueryCacheNotifyEvent,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useEffect } from 'react';
import { listenToOtherTabs } from '../other-tabs';
import { useTRPC } from '../queries';
import { findCode } from '../query-client';
import { useStaff } from '../staff';

/**
 * Notices that the page's account is signed out or has another role: at once if another tab signs in or out, when the page
 * is shown again, and after a call that the role does not permit.
 */
export function useStaffWatch(): void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const { staff } = useStaff();
  const me = trpc.staff.me.queryOptions(undefined, { initialData: staff, refetchOnWindowFocus: 'always' });
  const { role } = useQuery(me).data;
  useEffect(() => {
    // The server renders what the account may do. What is typed stays.
    if (role !== staff.role) router.refresh();
  }, [role, staff.role, router]);
  // Any answer says who is signed in.
  useEffect(() => listenToOtherTabs(() => void queryClient.invalidateQueries()), [queryClient]);
  useEffect(() => {
    const check = (event: QueryCacheNotifyEvent | MutationCacheNotifyEvent) => {
      if (event.type === 'updated' && event.action.type === 'error' && findCode(event.action.error) === 'FORBIDDEN')
        void queryClient.invalidateQueries({ queryKey: trpc.staff.me.pathKey() });
    };
    const ends = [queryClient.getQueryCache().subscribe(check), queryClient.getMutationCache().subscribe(check)];
    return () => {
      for (const end of ends) end();
    };
  }, [queryClient, trpc]);
}
