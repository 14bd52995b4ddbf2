import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../../queries';

/**
 * Reads the accounts again after one was changed, and the open links: they are revoked with an account that is disabled or no
 * longer an admin, and with an invitation whose address got an account.
 */
export function useAccountRefresh() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () => {
    for (const part of [trpc.staff, trpc.invitations]) void queryClient.invalidateQueries({ queryKey: part.pathKey() });
  };
}
