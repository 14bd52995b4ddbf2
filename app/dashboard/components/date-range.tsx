'use client';
import { RANGE_PRESETS, showBound, writeBound } from '../date-range';
import { DayInput } from './day-input';
import { Select } from './field';
import { useTimeZone } from './time';
import { useUrlState } from './url-state';

const BOUNDS = [
  { param: 'startDate', edge: 'start', name: 'From' },
  { param: 'endDate', edge: 'end', name: 'To' },
] as const;

/** The time range of a list, kept in the address: a preset, or the first and last day. `about` says what is dated, `patch` what else changes. */
export function DateRange({ about = 'Time', patch }: { about?: string; patch?: Record<string, null> }) {
  const { params, change } = useUrlState();
  const { timeZone } = useTimeZone();
  const bounds = BOUNDS.map(({ param }) => params.get(param));
  const range = params.get('range') ?? (bounds.some(Boolean) ? 'days' : '');
  return (
    <span className="inline-flex flex-wrap items-center gap-1">
      <Select
        aria-label={about}
        className="w-auto"
        value={range}
        onChange={({ target }) =>
          change({
            ...patch,
            range: target.value === 'days' ? null : target.value,
            // Choosing days shows their fields, with today in the first.
            startDate:
              target.value === 'days'
                ? writeBound(showBound(new Date().toISOString(), 'start', timeZone), 'start', timeZone)
                : null,
            endDate: null,
          })
        }
      >
        <option value="">{about}: any</option>
        {RANGE_PRESETS.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
        <option value="days">Days …</option>
      </Select>
      {range === 'days' &&
        BOUNDS.map(({ param, edge, name }, at) => (
          <DayInput
            key={param}
            aria-label={`${name} (day, ${timeZone})`}
            title={`${name}: a day in ${timeZone}`}
            className="w-34"
            value={showBound(bounds[at] ?? null, edge, timeZone)}
            onChange={(day) => change({ ...patch, range: null, [param]: writeBound(day, edge, timeZone) })}
          />
        ))}
    </span>
  );
}
