'use client';
import { type FormEvent, useId } from 'react';
import { ActiveFilters } from '../../components/active-filters';
import { Input, Select } from '../../components/field';
import { useUrlState } from '../../components/url-state';
import { StatusFilter } from '../incident-handling';
import { ANOMALY_FILTER_NAMES, KNOWN_TYPES, SEVERITY_WORDS } from './anomaly-filters';

/** The filters of the list, kept in the URL. Each active filter is a chip; a click removes it. */
export function AnomalyFilterBar() {
  const { params, change } = useUrlState();
  const set = (param: string, value: string | null) => change({ [param]: value, selected: null });
  const active = [...ANOMALY_FILTER_NAMES].filter(([param]) => params.has(param));
  return (
    <div className="mb-3 space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <TextFilter name="Type" param="anomalyType" suggestions={KNOWN_TYPES} onSet={set} />
        <TextFilter name="User id" param="userId" onSet={set} />
        <Select
          aria-label="Severity"
          className="w-auto"
          value={params.get('severity') ?? ''}
          onChange={(event) => set('severity', event.target.value)}
        >
          <option value="">Severity: any</option>
          {Object.entries(SEVERITY_WORDS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </Select>
        <StatusFilter value={params.get('status') ?? undefined} onChange={(status) => set('status', status)} />
      </div>
      <ActiveFilters
        filters={active.map(([param, name]) => ({ param, name, value: params.get(param) }))}
        onRemove={(param) => set(param, null)}
      />
    </div>
  );
}

interface TextFilterProps {
  name: string;
  param: string;
  suggestions?: string[];
  onSet(param: string, value: string | null): void;
}

/** A field for an exact text. Enter applies it. */
function TextFilter({ name, param, suggestions, onSet }: TextFilterProps) {
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get(param)).trim();
    if (text) onSet(param, text);
    event.currentTarget.reset();
  };
  return (
    <form onSubmit={submit}>
      <Input
        name={param}
        type="search"
        aria-label={name}
        placeholder={name}
        list={suggestions && id}
        className="w-40"
        autoComplete="off"
      />
      {suggestions && (
        <datalist id={id}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </form>
  );
}
