'use client';
import { useQuery } from '@tanstack/react-query';
import type { Session } from '../../../../../contract/sessions';
import { useTRPC } from '../../../queries';
import { ConfirmedDevice } from '../../users/device-confirming';

/** Shows whether the device is confirmed as the user's own. Nothing if the session has no user or no device. */
export function ConfirmDevice({ session }: { session: Session }) {
  const { userId, userName, deviceFingerprint: fingerprint } = session;
  if (!userId || !fingerprint) return null;
  return <Confirmation userId={userId} userName={userName ?? userId} fingerprint={fingerprint} />;
}

function Confirmation({ userId, userName, fingerprint }: { userId: string; userName: string; fingerprint: string }) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.users.listDevices.queryOptions({ userId }));
  if (!data) return null;
  const device = data.find((one) => one.fingerprint === fingerprint);
  const unconfirmed = { fingerprint, confirmedAt: null, confirmedBy: null };
  return <ConfirmedDevice userId={userId} userName={userName} device={device ?? unconfirmed} />;
}
