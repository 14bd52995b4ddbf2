'use client';
import { type FormEvent, useState } from 'react';
import { Button } from '../dashboard/components/button';
import { Field, Input } from '../dashboard/components/field';
import { tellOtherTabs } from '../dashboard/other-tabs';

/** Asks for email and password, then opens `next`, a path on this host. */
export function SignInForm({ next }: { next: string }) {
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const signIn = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(null);
    const refusal = await sendSignIn(String(form.get('email')), String(form.get('password')));
    if (refusal === null) {
      tellOtherTabs();
      return window.location.assign(next);
    }
    setError(refusal);
    setBusy(false);
  };
  return (
    <form method="post" onSubmit={signIn} className="flex flex-col gap-4">
      <Field label="Email">
        <Input name="email" type="email" autoComplete="username" required autoFocus />
      </Field>
      <Field label="Password" error={error}>
        <Input name="password" type="password" autoComplete="current-password" required />
      </Field>
      <Button kind="primary" type="submit" disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </Button>
    </form>
  );
}

const NOT_KEPT = 'The browser did not keep the session. Open the https address, and allow its cookies.';

/** Whether the browser sends the cookie that it was given. Otherwise the next page would be this one again, without a word. */
const isKept = async () => (await fetch('/api/trpc/staff.me')).status !== 401;

/** Returns why the sign-in was refused or lost; null on success. */
async function sendSignIn(email: string, password: string): Promise<string | null> {
  try {
    const response = await fetch('/api/auth/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    if (response.ok) return (await isKept()) ? null : NOT_KEPT;
    const { error } = (await response.json()) as { error: { message: string } };
    return `${error.message}.`;
  } catch {
    return 'The server could not be reached. Try again.';
  }
}
