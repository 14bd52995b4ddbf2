'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { Fragment, type KeyboardEvent, type ReactNode, useCallback, useEffect, useId, useState } from 'react';
import type { FoundKind, SearchResult } from '../../../../contract/search';
import { joinClasses } from '../../components/classes';
import { CutText } from '../../components/cut-text';
import { mayLeave } from '../../components/leave-question';
import { countOf } from '../../components/list-total';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { DESTINATIONS, matches } from './destinations';
import { PaletteField } from './palette-field';

/** Typing within this time asks once. */
const PAUSE_MS = 120;
/** Of pages and of saved views. The server bounds its own groups. */
const MAX_SHOWN = 6;

const GROUPS: Record<FoundKind, string> = {
  ...{ user: 'Users', session: 'Sessions', course: 'Courses', device: 'Devices', webhook: 'Webhooks' },
  ...{ alertRule: 'Alert rules', alert: 'Alerts', report: 'Reports' },
};

/** The pages of what was found, under the integration's address. */
const PATHS: Record<FoundKind, (id: string) => string> = {
  user: (id) => `users/${id}`,
  session: (id) => `sessions/${id}`,
  course: (id) => `courses/${id}`,
  device: (id) => `sessions?fingerprint=${id}`,
  webhook: (id) => `webhooks/${id}`,
  alertRule: (id) => `alerts/rules/${id}`,
  alert: (id) => `alerts?selected=${id}`,
  report: (id) => `reports?selected=${id}`,
};

interface Result {
  key: string;
  group: string;
  title: string;
  detail: ReactNode;
  path: string;
}

interface PaletteProps {
  base: string;
  text: string;
  onText(text: string): void;
  onClose(): void;
}

/** Finds users, sessions, courses, devices and more, saved views and pages. Remembers no query. */
export function Palette({ base, text, onText, onClose }: PaletteProps) {
  const router = useRouter();
  const id = useId();
  const [active, setActive] = useState(0);
  const { results, isSettled, error } = useResults(text.trim());
  /** Enter came before the results of the query. */
  const [isEntered, setEntered] = useState(false);
  const at = Math.min(active, results.length - 1);

  const open = useCallback(
    (result: Result | undefined) => {
      if (!result || !mayLeave()) return;
      onClose();
      router.push(`${base}/${result.path}`);
    },
    [base, onClose, router],
  );
  useEffect(() => {
    if (!isEntered || !isSettled) return;
    setEntered(false);
    // What was asked for is not among the pages that show all the same.
    if (!error) open(results[0]);
  }, [isEntered, isSettled, error, results, open]);
  useEffect(() => {
    if (at >= 0) document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);

  const press = (event: KeyboardEvent) => {
    const { length } = results;
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 };
    const next = moves[event.key];
    if (next !== undefined && length > 0) {
      event.preventDefault();
      setActive((next + length) % length);
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      if (isSettled) open(results[at]);
      else setEntered(true);
    }
  };
  const nothing = text.trim() !== '' && isSettled && results.length === 0;
  return (
    <>
      <PaletteField
        aria-expanded={results.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        value={text}
        onChange={({ target }) => {
          onText(target.value);
          setActive(0);
          setEntered(false);
        }}
        onKeyDown={press}
      />
      <p role="status" className="sr-only">
        {isSettled && countOf(results.length, ['result', 'results'])}
      </p>
      {error ? <p role="alert" className="mt-3 text-danger">{`The search failed. ${describeError(error)}`}</p> : null}
      {nothing && !error && (
        <p className="mt-3 text-muted">
          Nothing was found. Names and emails are found by how their words begin, everything else by how its id begins.
        </p>
      )}
      <div id={`${id}-list`} role="listbox" aria-label="Results" className="mt-2">
        {listGroups(results).map(([group, members]) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options in a listbox
          <div key={group} role="group" aria-label={group}>
            <div aria-hidden className="px-2 pt-3 pb-1 font-medium text-muted text-xs">
              {group}
            </div>
            {members.map((result) => {
              const n = results.indexOf(result);
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
                <div
                  key={result.key}
                  id={`${id}-${n}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={n === at}
                  onClick={() => open(result)}
                  onPointerMove={() => setActive(n)}
                  className={joinClasses('cursor-pointer rounded px-2 py-1', n === at && 'bg-accent-soft')}
                >
                  <CutText text={result.title} className="text-ink" />
                  <div className="truncate text-muted text-xs">{result.detail}</div>
                </div>
              );
            })}
          </div>
        ))}
      </div>
    </>
  );
}

/** Puts results of one group together, in the order in which they come. */
function listGroups(results: Result[]): [group: string, members: Result[]][] {
  const groups = new Map<string, Result[]>();
  for (const result of results) groups.set(result.group, [...(groups.get(result.group) ?? []), result]);
  return [...groups];
}

/** Returns the text as it was a moment ago. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

/** Lists what matches the text. It is settled once the server has answered for exactly this text. */
function useResults(text: string) {
  const { canWrite, isAdmin } = useStaff();
  const trpc = useTRPC();
  const query = usePaused(text);
  const found = useQuery(
    trpc.search.find.queryOptions(
      { query },
      // What was found is not kept for the next search: a user may be erased by then.
      { enabled: query !== '', placeholderData: keepPreviousData, gcTime: 0 },
    ),
  );
  const views = useQuery(trpc.savedViews.list.queryOptions());
  const may = { write: canWrite, admin: isAdmin };
  const pages = DESTINATIONS.filter(
    ({ name, words = '', needs }) => (!needs || may[needs]) && matches(text, `${name} ${words}`),
  ).map(
    ({ name, detail, path }): Result => ({ key: `page ${path} ${name}`, group: 'Pages', title: name, detail, path }),
  );
  const saved = (views.data ?? [])
    .filter(({ name }) => matches(text, name))
    .map(({ id, name, page, query: filters, createdBy }): Result => {
      const detail = `View of ${page}${createdBy ? ` · ${createdBy}` : ''}`;
      return { key: `view ${id}`, group: 'Saved views', title: name, detail, path: `${page}?${filters}` };
    });
  const things = text === '' ? [] : (found.data ?? []).map(showFound);
  const isSettled = text === '' || (query === text && !found.isFetching);
  return {
    results: [...things, ...saved.slice(0, MAX_SHOWN), ...(text === '' ? pages : pages.slice(0, MAX_SHOWN))],
    isSettled,
    error: text === '' ? null : found.error,
  };
}

function showFound({ kind, id, title, detail, at }: SearchResult): Result {
  return {
    key: `${kind} ${id}`,
    group: GROUPS[kind],
    title,
    detail: (
      <Fragment>
        {detail}
        {at && (
          <>
            {detail && ' · '}
            <Time at={at} />
          </>
        )}
      </Fragment>
    ),
    path: PATHS[kind](encodeURIComponent(id)),
  };
}
