import { type ComponentProps, useState } from 'react';
import { Input } from './field';

/** While a year is typed, its first digits are a year too. */
const FIRST_DAY = '1970-01-01';
/** The API takes a range that ends with it, whatever the zone. A later day becomes this one. */
const LAST_DAY = '9998-12-30';

/**
 * A field for a day, `2026-11-22` or empty. It shows what is typed, and tells of a day only when its year is complete. It tells that
 * it is empty when somebody leaves it: a day that is being typed can be empty for a moment, such as 30 February.
 */
export function DayInput({
  value,
  onChange,
  ...props
}: Omit<ComponentProps<typeof Input>, 'type' | 'value' | 'onChange' | 'onBlur'> & {
  value: string;
  onChange(day: string): void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <Input
      {...props}
      type="date"
      max={LAST_DAY}
      value={typed ?? value}
      onChange={({ target }) => {
        setTyped(target.value);
        if (target.value >= FIRST_DAY) onChange(target.value > LAST_DAY ? LAST_DAY : target.value);
      }}
      onBlur={() => {
        if (typed === '') onChange('');
        setTyped(null);
      }}
    />
  );
}
