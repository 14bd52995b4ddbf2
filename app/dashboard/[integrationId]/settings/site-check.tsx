'use client';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import type { SiteCheck, SiteState } from '../../../../contract/sites';
import { Badge, type Tone } from '../../components/badge';
import { Button } from '../../components/button';
import { Field, Input } from '../../components/field';
import { Time } from '../../components/time';

const STATES: Record<SiteState, { name: string; tone: Tone }> = {
  UnknownKey: { name: 'Unknown key', tone: 'danger' },
  Revoked: { name: 'Revoked', tone: 'danger' },
  NoOrigins: { name: 'No origins', tone: 'danger' },
  OriginNotAllowed: { name: 'Origin not allowed', tone: 'danger' },
  NothingReceived: { name: 'Nothing received', tone: 'medium' },
  Receiving: { name: 'Receiving', tone: 'human' },
};

async function askCheck(body: { siteKey: string; origin: string }): Promise<SiteCheck> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch('/collect/check', { method: 'POST', headers, body: JSON.stringify(body) }).catch(
    () => null,
  );
  if (answer === null) throw new Error('The server could not be reached.');
  const result = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(result?.error?.message ?? `The server answered ${answer.status}.`);
  return result;
}

/** Says why pages of an origin send nothing. The first site and origin are filled in. */
export function SiteCheckForm({ siteKey = '', origin = '' }: { siteKey?: string; origin?: string }) {
  const check = useMutation({ mutationFn: askCheck });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    check.mutate({ siteKey: String(form.get('siteKey')).trim(), origin: String(form.get('origin')).trim() });
  };
  return (
    <>
      <form onSubmit={submit} className="space-y-3">
        <Field label="Site key" hint="As it stands in the page’s tag.">
          <Input
            name="siteKey"
            required
            defaultValue={siteKey}
            placeholder="site_…"
            spellCheck={false}
            autoComplete="off"
          />
        </Field>
        <Field label="Address of the page" error={check.error?.message}>
          <Input
            name="origin"
            required
            defaultValue={origin}
            placeholder="https://lms.example.edu"
            spellCheck={false}
          />
        </Field>
        <div className="flex justify-end">
          <Button type="submit" disabled={check.isPending}>
            Check
          </Button>
        </div>
      </form>
      <div role="status">{check.data && <Result check={check.data} />}</div>
    </>
  );
}

function Result({ check: { state, message, notes, lastReceivedAt } }: { check: SiteCheck }) {
  const { name, tone } = STATES[state];
  return (
    <div className="mt-3 space-y-2 border-t pt-3">
      <p>
        <Badge tone={tone}>{name}</Badge>
      </p>
      <p>{message}</p>
      {lastReceivedAt && (
        <p className="text-muted">
          The last batch came <Time at={lastReceivedAt} />.
        </p>
      )}
      {notes.length > 0 && (
        <ul className="list-disc space-y-1 pl-4 text-muted">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
