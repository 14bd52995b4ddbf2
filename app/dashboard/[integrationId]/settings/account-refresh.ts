import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../../queries';

/**
 * Reads the accounts again after one was changed, and the open links: they go with an account that is disabled or no admin any more,
 * and with an invitation whose address got an account.
 */
export function useAccountRefresh() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () => {
    for (const part of [trpc.staff, trpc.invitations]) void queryClient.invalidateQueries({ queryKey: part.pathKey() });
  };
}
