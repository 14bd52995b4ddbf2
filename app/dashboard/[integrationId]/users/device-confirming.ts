'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';

/** Confirms devices as a user's own and shows what follows from it. The caller handles errors. */
export function useDeviceConfirming() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  return useMutation(
    trpc.users.confirmDevice.mutationOptions({
      onSuccess: ({ suppresses }) => {
        toast({ text: `Device confirmed: it causes no further ${suppresses.join(' or ')} anomaly.` });
        void queryClient.invalidateQueries({ queryKey: trpc.users.pathKey() });
        void queryClient.invalidateQueries({ queryKey: trpc.stats.pathKey() });
      },
    }),
  );
}
