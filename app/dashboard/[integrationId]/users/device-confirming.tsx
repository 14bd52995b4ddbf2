'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { UserDevice } from '../../../../contract/users';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { shortenId } from '../../components/copying';
import { ConfirmDialog } from '../../components/dialog';
import { isolateName } from '../../components/direction';
import { ShieldCheck } from '../../components/icons';
import { Time } from '../../components/time';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { useStaff } from '../../staff';

interface DeviceConfirmationProps {
  userId: string;
  userName: string;
  device: Pick<UserDevice, 'fingerprint' | 'confirmedAt' | 'confirmedBy'>;
}

/** Shows whether a device is confirmed as a user's own, by whom and when, and lets staff confirm it or take that back. */
export function ConfirmedDevice({ userId, userName: name, device }: DeviceConfirmationProps) {
  const userName = isolateName(name);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { canWrite } = useStaff();
  const [isAsking, ask] = useState(false);
  const showChange = (text: string) => {
    toast({ text });
    void queryClient.invalidateQueries({ queryKey: trpc.users.pathKey() });
    void queryClient.invalidateQueries({ queryKey: trpc.stats.pathKey() });
  };
  const confirming = useMutation(
    trpc.users.confirmDevice.mutationOptions({
      onSuccess: ({ suppresses }) =>
        showChange(`Device confirmed: it causes no further ${suppresses.join(' or ')} anomaly.`),
    }),
  );
  const revoking = useMutation(
    trpc.users.revokeDevice.mutationOptions({
      onSuccess: () => showChange('Confirmation revoked: anomalies about the device are recorded again.'),
    }),
  );
  const { fingerprint, confirmedAt, confirmedBy } = device;
  const input = { userId, fingerprint };
  const shortId = shortenId(fingerprint);
  return (
    <>
      {confirmedAt === null ? (
        <Button isSmall disabled={!canWrite} aria-label={`Confirm device ${shortId}`} onClick={() => ask(true)}>
          Confirm
        </Button>
      ) : (
        <span className="flex min-w-0 flex-col gap-0.5">
          <span className="flex items-center gap-2">
            <Badge tone="human">
              <ShieldCheck size={12} aria-hidden /> Confirmed
            </Badge>
            <Button
              isSmall
              kind="quiet"
              disabled={!canWrite}
              aria-label={`Revoke the confirmation of device ${shortId}`}
              onClick={() => ask(true)}
            >
              Revoke
            </Button>
          </span>
          <span className="wrap-anywhere text-faint text-xs">
            {confirmedBy && `by ${confirmedBy}, `}
            <Time at={confirmedAt} />
          </span>
        </span>
      )}
      {confirmedAt === null ? (
        <ConfirmDialog
          title={`Confirm this device as ${userName}’s own?`}
          act="Confirm device"
          kind="plain"
          isOpen={isAsking}
          onClose={() => ask(false)}
          onConfirm={() => confirming.mutateAsync(input)}
          consequence={
            <>
              <p>
                From now on SharedDevice and DeviceSwitch anomalies of {userName} on device {shortId} are suppressed:
                they are not recorded, and no webhook reports them. Those already recorded stay.
              </p>
              <p className="mt-2">The confirmation can be revoked later. Both are in the audit log.</p>
            </>
          }
        />
      ) : (
        <ConfirmDialog
          title={`Revoke the confirmation for ${userName}?`}
          act="Revoke confirmation"
          isOpen={isAsking}
          onClose={() => ask(false)}
          onConfirm={() => revoking.mutateAsync(input)}
          consequence={
            <p>
              From now on SharedDevice and DeviceSwitch anomalies of {userName} on device {shortId} are recorded again,
              and webhooks report them. What was suppressed until now is not found later.
            </p>
          }
        />
      )}
    </>
  );
}
