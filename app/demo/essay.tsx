'use client';
import { useState } from 'react';
import { Button } from '../dashboard/components/button';
import { Field, Textarea } from '../dashboard/components/field';
import { Section } from '../dashboard/components/page-header';
import { HandedIn } from './handed-in';

/** An essay question. Its text stays in the page. */
export function Essay() {
  const [isHandedIn, setHandedIn] = useState(false);
  return (
    <Section title="Essay">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          setHandedIn(true);
        }}
      >
        <Field
          label="In two or three sentences: what would change if plants were black?"
          hint="From 300 characters on, the session in the dashboard shows how the text came about."
        >
          <Textarea name="essay" data-writing="demo-essay" rows={6} maxLength={4_000} />
        </Field>
        <div className="flex min-h-8 flex-wrap items-center gap-3">
          <Button type="submit" kind="primary">
            Hand in the essay
          </Button>
          <HandedIn isHandedIn={isHandedIn} />
        </div>
      </form>
    </Section>
  );
}
