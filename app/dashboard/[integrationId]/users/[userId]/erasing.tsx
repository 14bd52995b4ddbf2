'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { User } from '../../../../../contract/users';
import { Button } from '../../../components/button';
import { ShortId } from '../../../components/copying';
import { ConfirmDialog } from '../../../components/dialog';
import { Section } from '../../../components/page-header';
import { RoleNote } from '../../../components/role-note';
import { Time } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { useStaff } from '../../../staff';

const POLL_MS = 2_000;

/** Erases the user, and shows the receipt until the erasure is complete. */
export function Erasing({ user }: { user: User }) {
  const trpc = useTRPC();
  const { isAdmin } = useStaff();
  const [isAsking, setAsking] = useState(false);
  const erase = useMutation(trpc.users.erase.mutationOptions());
  const receiptId = erase.data?.id ?? '';
  const progress = useQuery(
    trpc.users.getErasure.queryOptions(
      { receiptId },
      {
        enabled: receiptId !== '',
        refetchInterval: ({ state }) => (state.data?.status === 'Completed' ? false : POLL_MS),
      },
    ),
  );
  const receipt = progress.data ?? erase.data;
  return (
    <Section title="Erasure">
      {receipt ? (
        <p role="status" className="text-muted">
          {receipt.status === 'Completed' ? 'The user is erased.' : 'The user is being erased.'} Receipt:{' '}
          <ShortId id={receipt.id} name="receipt id" />. Facts about them are refused until{' '}
          <Time at={receipt.refusedUntil} absolute />.
        </p>
      ) : (
        <>
          <p className="mb-3 text-muted">
            Removes this person from everything that is stored. Their sessions stay counted.
          </p>
          <Button kind="danger" disabled={!isAdmin} onClick={() => setAsking(true)}>
            Erase this user
          </Button>
        </>
      )}
      <div className="mt-3 empty:hidden">
        <RoleNote needs="admin" act="erase a user" />
      </div>
      <ConfirmDialog
        title={`Erase ${user.name}?`}
        act="Erase user"
        typed={user.id}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => erase.mutateAsync({ userId: user.id })}
        consequence={
          <>
            <p>
              Their id, name, email and address go, and so do recordings of their sessions, notes on them, and reports
              that name them. Webhook events about them are emptied, and pending deliveries of those end.
            </p>
            <p className="mt-2">This cannot be undone. Export their data first, if they asked for it.</p>
          </>
        }
      />
    </Section>
  );
}
