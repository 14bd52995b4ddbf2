'use client';
import type { Usage } from '../../../../contract/usage';
import { Button } from '../../components/button';
import { DayInput } from '../../components/day-input';
import { useUrlState } from '../../components/url-state';

const DAY_MS = 86_400_000;
const LENGTHS = [7, 30, 90];

/** The range of days, kept in the URL. Without one there, it shows the range that the API chose. */
export function RangeChoice({ shown }: { shown: Pick<Usage, 'startDate' | 'endDate'> | undefined }) {
  const { params, change } = useUrlState();
  const showLast = (days: number) => {
    const start = new Date(Date.now() - (days - 1) * DAY_MS);
    change({ startDate: start.toISOString().slice(0, 10), endDate: null });
  };
  return (
    <>
      {LENGTHS.map((days) => (
        <Button key={days} kind="quiet" className="px-2!" onClick={() => showLast(days)}>
          {days} days
        </Button>
      ))}
      {(
        [
          ['startDate', 'From'],
          ['endDate', 'To'],
        ] as const
      ).map(([param, name]) => (
        <DayInput
          key={param}
          aria-label={`${name} (UTC day)`}
          title={`${name} (UTC day)`}
          className="w-34"
          value={(params.get(param) ?? shown?.[param])?.slice(0, 10) ?? ''}
          onChange={(day) => change({ [param]: day })}
        />
      ))}
    </>
  );
}
