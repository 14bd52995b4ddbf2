'use client';
import { type FormEvent, useState } from 'react';
import { ActiveFilters } from '../../components/active-filters';
import { Button } from '../../components/button';
import { joinClasses } from '../../components/classes';
import { DateRange } from '../../components/date-range';
import { Input, Select } from '../../components/field';
import { ListFilter } from '../../components/icons';
import { useTimeZone } from '../../components/time';
import { useUrlState } from '../../components/url-state';
import { describeBound, RANGE_PRESETS } from '../../date-range';
import {
  CHOICE_FILTERS,
  SCORE_FILTERS,
  SESSION_FILTER_NAMES,
  showScoreBound,
  TEXT_FILTERS,
  writeScoreBound,
} from './session-filters';

/** All filters of the list, kept in the URL. Each active filter is a chip; a click removes it. */
export function SessionFilterBar() {
  const { params, change } = useUrlState();
  const { timeZone } = useTimeZone();
  const [isOpen, setOpen] = useState(false);
  const active = [...SESSION_FILTER_NAMES].filter(([param]) => params.has(param));
  const set = (param: string, value: string | null) => change({ [param]: value, selected: null });
  const clear = () => change({ ...Object.fromEntries(active.map(([param]) => [param, null])), selected: null });
  return (
    <div className="mb-3 space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <TextFilter />
        <Button className="md:hidden" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <ListFilter size={14} aria-hidden />
          Filters{active.length > 0 && ` (${active.length})`}
        </Button>
        <div className={joinClasses('flex-wrap items-center gap-2 md:contents', isOpen ? 'flex' : 'max-md:hidden')}>
          {CHOICE_FILTERS.map(({ name, param, choices }) => (
            <Select
              key={param}
              aria-label={name}
              className="w-auto"
              value={params.get(param) ?? ''}
              onChange={(event) => set(param, event.target.value)}
            >
              <option value="">{name}: any</option>
              {choices.map((choice) => (
                <option key={choice.value} value={choice.value}>
                  {choice.name}
                </option>
              ))}
            </Select>
          ))}
          <span className="inline-flex items-center gap-1">
            {SCORE_FILTERS.map(({ name, param }, at) => (
              <ScoreInput
                key={param}
                name={name}
                param={param}
                hint={at === 0 ? 'Score' : 'to'}
                value={params.get(param)}
                onSet={(value) => set(param, value)}
              />
            ))}
          </span>
          <DateRange about="Began" patch={{ selected: null }} />
        </div>
      </div>
      <ActiveFilters
        filters={active.map(([param, name]) => ({
          param,
          name,
          value: describeValue(param, params.get(param) ?? '', timeZone),
        }))}
        onRemove={(param) => set(param, null)}
      >
        <button type="button" className="px-1 text-muted text-xs hover:text-ink" onClick={clear}>
          Clear all
        </button>
      </ActiveFilters>
    </div>
  );
}

function describeValue(param: string, value: string, timeZone: string): string {
  if (param === 'range') return RANGE_PRESETS.find((preset) => preset.value === value)?.name ?? value;
  const edge = param === 'startDate' ? 'start' : param === 'endDate' ? 'end' : null;
  if (edge) return describeBound(value, edge, timeZone);
  if (SCORE_FILTERS.some((filter) => filter.param === param)) return showScoreBound(value);
  const choice = CHOICE_FILTERS.find((filter) => filter.param === param)?.choices.find((one) => one.value === value);
  return choice?.name ?? value;
}

interface ScoreInputProps {
  name: string;
  param: (typeof SCORE_FILTERS)[number]['param'];
  hint: string;
  value: string | null;
  onSet(value: string | null): void;
}

/** A field for a score. It keeps what is typed until it is left, and sets nothing if it is only looked at. */
function ScoreInput({ name, param, hint, value, onSet }: ScoreInputProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const shown = value === null ? '' : showScoreBound(value);
  const commit = () => {
    if (typed !== null && typed !== shown) onSet(writeScoreBound(param, typed));
    // Else it would be set once more when the field is left, although the reader has gone back.
    setTyped(null);
  };
  return (
    <Input
      type="number"
      min={0}
      max={100}
      aria-label={`${name}, 0 to 100`}
      placeholder={hint}
      className="w-18"
      value={typed ?? shown}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={commit}
      onKeyDown={({ key }) => key === 'Enter' && commit()}
    />
  );
}

/** Filters by an exact text. The search of everything finds the texts. */
function TextFilter() {
  const { change } = useUrlState();
  const filter = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = String(form.get('text')).trim();
    if (!text) return;
    change({ [String(form.get('by'))]: text, selected: null });
    event.currentTarget.reset();
  };
  return (
    <form onSubmit={filter} className="flex min-w-0">
      <Select name="by" aria-label="Filter by" className="w-auto rounded-r-none border-r-0 bg-sunken">
        {TEXT_FILTERS.map(({ name, param }) => (
          <option key={param} value={param}>
            {name}
          </option>
        ))}
      </Select>
      <Input
        name="text"
        type="search"
        aria-label="Exact text"
        placeholder="Exact text"
        className="w-36 rounded-l-none"
      />
    </form>
  );
}
