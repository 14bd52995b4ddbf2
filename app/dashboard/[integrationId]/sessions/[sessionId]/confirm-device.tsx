'use client';
import { useQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import type { Session } from '../../../../../contract/sessions';
import { Badge } from '../../../components/badge';
import { Button } from '../../../components/button';
import { useToast } from '../../../components/toast';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { useStaff } from '../../../staff';
import { useDeviceConfirming } from '../../users/device-confirming';

/** Shows whether the device is confirmed as the user's own, and lets staff confirm it. */
export function ConfirmDevice({ session }: { session: Session }) {
  const { userId, deviceFingerprint: fingerprint } = session;
  if (!userId || !fingerprint) return null;
  return <Confirmation userId={userId} fingerprint={fingerprint} />;
}

function Confirmation({ userId, fingerprint }: { userId: string; fingerprint: string }) {
  const trpc = useTRPC();
  const toast = useToast();
  const { canWrite } = useStaff();
  const devices = useQuery(trpc.users.listDevices.queryOptions({ userId }));
  const confirm = useDeviceConfirming();
  const isConfirmed = devices.data?.some((device) => device.fingerprint === fingerprint && device.confirmedAt !== null);
  if (isConfirmed)
    return (
      <Badge tone="human">
        <ShieldCheck size={12} aria-hidden /> Confirmed
      </Badge>
    );
  return (
    <Button
      isSmall
      disabled={!canWrite || confirm.isPending}
      title="Says that this device is the user’s own: it causes no further SharedDevice or DeviceSwitch anomaly"
      onClick={() =>
        confirm.mutate(
          { userId, fingerprint },
          { onError: (error) => toast({ text: `Not confirmed. ${describeError(error)}`, isError: true }) },
        )
      }
    >
      Confirm device
    </Button>
  );
}
