'use client';
import { useQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { User, UserDevice } from '../../../../../contract/users';
import { Badge } from '../../../components/badge';
import { Button } from '../../../components/button';
import { ShortId, shortenId } from '../../../components/copying';
import { Count } from '../../../components/count';
import { ConfirmDialog } from '../../../components/dialog';
import { Section } from '../../../components/page-header';
import { RoleNote } from '../../../components/role-note';
import { ErrorState, Skeleton } from '../../../components/states';
import { Time } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { useStaff } from '../../../staff';
import { useDeviceConfirming } from '../device-confirming';

/** The devices of a user, and which of them are confirmed as their own. */
export function Devices({ user }: { user: User }) {
  const trpc = useTRPC();
  const { canWrite } = useStaff();
  const devices = useQuery(trpc.users.listDevices.queryOptions({ userId: user.id }));
  const confirming = useDeviceConfirming();
  const [asked, ask] = useState<UserDevice | null>(null);
  return (
    <Section title="Devices">
      {devices.error ? (
        <ErrorState message={describeError(devices.error)} onRetry={() => void devices.refetch()} />
      ) : !devices.data ? (
        <Skeleton className="h-24" />
      ) : devices.data.length === 0 ? (
        <p className="text-faint">None of their sessions reported a device.</p>
      ) : (
        <ul className="max-h-96 space-y-2 overflow-y-auto" aria-label="Devices">
          {devices.data.map((device) => (
            <li key={device.fingerprint} className="flex min-h-6 items-center gap-3">
              <span className="min-w-0 flex-1">
                <ShortId id={device.fingerprint} name="device fingerprint" />
                <span className="block text-faint text-xs">
                  <Count value={device.sessionCount} /> {device.sessionCount === 1 ? 'session' : 'sessions'}
                  {device.lastSeenAt && (
                    <>
                      , <Time at={device.lastSeenAt} />
                    </>
                  )}
                </span>
              </span>
              {device.confirmedAt ? (
                <span className="flex flex-col items-end">
                  <Badge tone="human">
                    <ShieldCheck size={12} aria-hidden /> Confirmed
                  </Badge>
                  <span className="text-faint text-xs">
                    <Time at={device.confirmedAt} />
                  </span>
                </span>
              ) : (
                <Button
                  isSmall
                  disabled={!canWrite}
                  aria-label={`Confirm device ${shortenId(device.fingerprint)}`}
                  onClick={() => ask(device)}
                >
                  Confirm
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <div className="mt-3 empty:hidden">
        <RoleNote needs="analyst" act="confirm a device" />
      </div>
      <ConfirmDialog
        title={`Confirm this device as ${user.name}’s own?`}
        act="Confirm device"
        kind="plain"
        isOpen={asked !== null}
        onClose={() => ask(null)}
        onConfirm={async () => {
          if (asked) await confirming.mutateAsync({ userId: user.id, fingerprint: asked.fingerprint });
        }}
        consequence={
          <>
            <p>
              From now on SharedDevice and DeviceSwitch anomalies of {user.name} on this device are suppressed: they are
              not recorded, and no webhook reports them. Those already recorded stay.
            </p>
            <p className="mt-2">A confirmation cannot be taken back.</p>
          </>
        }
      />
    </Section>
  );
}
