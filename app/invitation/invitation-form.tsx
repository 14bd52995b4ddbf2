'use client';
import { type FormEvent, useEffect, useState } from 'react';
import type { ShownInvitation } from '../../contract/invitations';
import { Button } from '../dashboard/components/button';
import { Field, Input } from '../dashboard/components/field';
import { FormFault } from '../dashboard/components/form-fault';
import { tellOtherTabs } from '../dashboard/other-tabs';
import { postForm } from '../dashboard/post-form';
import { describeError, findCode, findFault } from '../dashboard/query-client';

type Found = { token: string; invitation: ShownInvitation };

/** Reads the token of the address, and asks what its link does. A link that does not work says so and nothing else. */
export function InvitationForm() {
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const ask = () => {
      const token = window.location.hash.slice(1);
      setFound(null);
      setError(null);
      postForm<{ invitation: ShownInvitation }>('/api/auth/invitation', { token }).then(
        ({ invitation }) => setFound({ token, invitation }),
        setError,
      );
    };
    ask();
    // Another link in the same tab changes the fragment alone, and the page stays.
    window.addEventListener('hashchange', ask);
    return () => window.removeEventListener('hashchange', ask);
  }, []);
  if (error !== null) return <DeadLink error={error} />;
  if (found === null)
    return (
      <p role="status" className="text-muted">
        Looking up your link …
      </p>
    );
  return <Accept key={found.token} {...found} />;
}

function DeadLink({ error }: { error: unknown }) {
  const isDead = findCode(error) === 'UNAUTHORIZED' || findCode(error) === 'BAD_REQUEST';
  return (
    <div role="alert">
      <h1 className="mb-2 font-semibold text-xl">{isDead ? 'This link does not work' : 'Not now'}</h1>
      <p className="mb-4 text-muted">
        {isDead
          ? 'It was used, replaced or revoked, it is older than three days, or a part of it is missing. Ask the admin who sent it for another one.'
          : `${describeError(error)} Then open the link again.`}
      </p>
      <a className="text-accent underline underline-offset-2" href="/sign-in">
        Sign in
      </a>
    </div>
  );
}

function Accept({ token, invitation: { email, name, role, kind } }: Found) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isNew = kind === 'NewAccount';
  const accept = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const chosen = isNew ? { name: String(form.get('name')).trim() } : {};
    setBusy(true);
    setError(null);
    try {
      await postForm('/api/auth/invitation/accept', { token, password: String(form.get('password')), ...chosen });
      tellOtherTabs();
      // The token stays neither in the address nor in the browser's history.
      window.history.replaceState(null, '', window.location.pathname);
      window.location.replace('/dashboard');
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  if (findCode(error) === 'UNAUTHORIZED') return <DeadLink error={error} />;
  return (
    <>
      <h1 className="mb-1 font-semibold text-xl">{isNew ? 'Welcome' : 'Set a new password'}</h1>
      <p className="mb-5 break-words text-muted">
        {isNew
          ? `You are invited to the Bot Detection dashboard as ${role}, with the address ${email}.`
          : `For the account ${email}. All its sessions end.`}
      </p>
      <form method="post" onSubmit={accept} className="flex flex-col gap-4">
        {/* Password managers ask whose password it is. */}
        <input type="hidden" name="username" autoComplete="username" value={email} />
        {isNew && (
          <Field label="Your name" error={findFault(error, 'name')}>
            <Input name="name" required maxLength={100} defaultValue={name} autoComplete="name" />
          </Field>
        )}
        <Field label="Password" hint="12 characters or more." error={findFault(error, 'password')}>
          <Input name="password" type="password" autoComplete="new-password" required autoFocus />
        </Field>
        <FormFault error={error} />
        <Button kind="primary" type="submit" disabled={isBusy}>
          {isNew ? 'Create the account' : 'Set the password'}
        </Button>
      </form>
    </>
  );
}
