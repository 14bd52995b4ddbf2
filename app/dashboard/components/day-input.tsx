import { type ComponentProps, useState } from 'react';
import { Input } from './field';

/** While a year is typed, its first digits are a year too. */
const FIRST_DAY = '1970-01-01';

/**
 * A field for a day, `2026-11-22` or empty. It shows what is typed, and tells of a day only when its year is complete.
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
      value={typed ?? value}
      onChange={({ target }) => {
        setTyped(target.value);
        if (target.value === '' || target.value >= FIRST_DAY) onChange(target.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
