'use client';
import { useState } from 'react';
import { Button } from '../dashboard/components/button';
import { Field, Input } from '../dashboard/components/field';
import { Section } from '../dashboard/components/page-header';
import { HandedIn } from './handed-in';

const ANSWERS = ['Oxygen', 'Carbon dioxide', 'Nitrogen', 'Helium'];

/** A quiz like that of an LMS. Its answers stay in the page. */
export function Quiz() {
  const [isHandedIn, setHandedIn] = useState(false);
  return (
    <Section title="Quiz">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          setHandedIn(true);
        }}
      >
        <fieldset>
          <legend className="mb-1 font-medium">Which gas do plants take from the air to make sugar?</legend>
          <div className="grid gap-x-6 sm:grid-cols-2">
            {ANSWERS.map((answer) => (
              <label key={answer} className="flex min-h-8 items-center gap-2">
                <input type="radio" name="gas" value={answer} className="size-4 accent-accent" />
                {answer}
              </label>
            ))}
          </div>
        </fieldset>
        <Field label="Why do leaves look green?">
          <Input name="why" autoComplete="off" maxLength={200} />
        </Field>
        <div className="flex min-h-8 flex-wrap items-center gap-3">
          <Button type="submit" kind="primary">
            Hand in the quiz
          </Button>
          <HandedIn isHandedIn={isHandedIn} />
        </div>
      </form>
    </Section>
  );
}
