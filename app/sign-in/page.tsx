import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { getStaff } from '../dashboard/staff-session';
import { readNextPath } from './next-path';
import { SignInForm } from './sign-in-form';
import { UnsavedNote } from './unsaved-note';

export const metadata: Metadata = { title: 'Sign in' };

type Props = { searchParams: Promise<{ next?: string | string[] }> };

export default async function SignIn({ searchParams }: Props) {
  const next = readNextPath((await searchParams).next);
  if (await getStaff()) redirect(next);
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="w-full max-w-xs">
        <h1 className="mb-1 font-semibold text-xl">Sign in</h1>
        <p className="mb-5 text-muted">Bot Detection dashboard, for staff.</p>
        <UnsavedNote />
        <SignInForm next={next} />
      </div>
    </main>
  );
}
