'use client';
import { useQuery } from '@tanstack/react-query';
import type { User } from '../../../../../contract/users';
import { ShortId } from '../../../components/copying';
import { Count } from '../../../components/count';
import { Section } from '../../../components/page-header';
import { Pending } from '../../../components/pending';
import { RoleNote } from '../../../components/role-note';
import { Time } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { ConfirmedDevice } from '../device-confirming';

/** The devices of a user, and which of them are confirmed as their own. */
export function Devices({ user }: { user: User }) {
  const trpc = useTRPC();
  const devices = useQuery(trpc.users.listDevices.queryOptions({ userId: user.id }));
  return (
    <Section title="Devices">
      <Pending query={devices} className="h-24" />
      {devices.data?.length === 0 ? (
        <p className="text-faint not-first:mt-4">None of their sessions reported a device.</p>
      ) : (
        <ul className="max-h-96 space-y-2 overflow-y-auto empty:hidden not-first:mt-4" aria-label="Devices">
          {devices.data?.map((device) => (
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
              <span className="max-w-[60%]">
                <ConfirmedDevice userId={user.id} userName={user.name} device={device} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <div className="mt-3 empty:hidden">
        <RoleNote needs="analyst" act="confirm a device" />
      </div>
    </Section>
  );
}
