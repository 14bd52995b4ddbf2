'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';

/** Confirms devices as a user's own, and says what follows of it; a fault is left to the caller. */
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
