import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Alert } from '../../../../contract/findings';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';

/** What staff do with an alert. Both show it as it is then, and say so. */
export function useAlertChanges() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const options = (words: string) => ({
    onSuccess: (alert: Alert) => {
      queryClient.setQueryData(trpc.alerts.get.queryKey({ id: alert.id }), alert);
      void queryClient.invalidateQueries({ queryKey: trpc.alerts.list.pathKey() });
      toast({ text: words });
    },
    onError: (error: unknown) => toast({ text: describeError(error), isError: true }),
  });
  const acknowledge = useMutation(trpc.alerts.acknowledge.mutationOptions(options('Acknowledged')));
  const resolve = useMutation(trpc.alerts.resolve.mutationOptions(options('Resolved')));
  return { acknowledge, resolve };
}
