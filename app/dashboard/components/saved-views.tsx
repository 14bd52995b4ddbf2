'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useParams } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import type { SavedView, ViewPage } from '../../../contract/saved-views';
import { useTRPC } from '../queries';
import { describeError, findFault } from '../query-client';
import { useStaff } from '../staff';
import { Button } from './button';
import { joinClasses } from './classes';
import { Dialog } from './dialog';
import { Field, Input } from './field';
import { FormFault } from './form-fault';
import { Bookmark, ChevronDown, Trash2 } from './icons';
import { MENU_ITEM, Menu } from './menu';
import { useToast } from './toast';
import { useUrlState } from './url-state';

/** More would push the list down. The menu has all of them. */
const MAX_CHIPS = 4;
/** What an address says in addition to the filters. */
const NOT_SAVED = ['selected', 'delivery', 'tab'];

/** The page's filters and order as a query, in a fixed order so that it can be compared. */
function normalize(query: string): string {
  const params = new URLSearchParams(query);
  for (const name of NOT_SAVED) params.delete(name);
  params.sort();
  return params.toString();
}

/** The saved views of a page: the first ones as links, all of them in a menu, where the present filters can be saved. */
export function SavedViews({ page }: { page: ViewPage }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const { params } = useUrlState();
  const { canWrite } = useStaff();
  const trpc = useTRPC();
  const { data = [] } = useQuery(trpc.savedViews.list.queryOptions());
  const [isNaming, setNaming] = useState(false);
  const views = data.filter((view) => view.page === page);
  const now = normalize(params.toString());
  const hrefOf = ({ query }: SavedView) => `/dashboard/${integrationId}/${page}?${query}`;
  const isShown = ({ query }: SavedView) => normalize(query) === now;
  return (
    <>
      {views.length > 0 && (
        <ul aria-label="Saved views" className="flex min-w-0 flex-wrap gap-1 max-sm:hidden">
          {views.slice(0, MAX_CHIPS).map((view) => (
            <li key={view.id} className="min-w-0">
              <Link
                href={hrefOf(view)}
                prefetch={false}
                aria-current={isShown(view) ? 'true' : undefined}
                title={view.name}
                className={joinClasses(
                  'block max-w-44 truncate rounded px-2 py-1',
                  isShown(view) ? 'bg-accent-soft text-accent' : 'text-muted hover:bg-sunken hover:text-ink',
                )}
              >
                {view.name}
              </Link>
            </li>
          ))}
        </ul>
      )}
      <Menu
        label="saved views of this list"
        isAtEnd
        buttonClassName="inline-flex h-8 items-center gap-2 rounded border border-line-strong bg-surface px-3 font-medium hover:bg-sunken"
        button={
          <>
            <Bookmark size={14} aria-hidden />
            Views
            <ChevronDown size={14} aria-hidden />
          </>
        }
      >
        {views.length === 0 && <p className="px-2 py-1 text-muted">Nobody has saved a view of this list.</p>}
        {views.map((view) => (
          <ViewItem key={view.id} view={view} href={hrefOf(view)} isShown={isShown(view)} />
        ))}
        <button
          type="button"
          className={joinClasses(MENU_ITEM, 'mt-1 border-line border-t')}
          disabled={!canWrite}
          onClick={() => setNaming(true)}
        >
          {canWrite ? 'Save this view …' : 'Analysts and admins save views'}
        </button>
      </Menu>
      {isNaming && <NameDialog page={page} query={now} onClose={() => setNaming(false)} />}
    </>
  );
}

function ViewItem({ view, href, isShown }: { view: SavedView; href: string; isShown: boolean }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { canWrite } = useStaff();
  const { page, name, query } = view;
  const refresh = () => void queryClient.invalidateQueries({ queryKey: trpc.savedViews.pathKey() });
  const onError = (error: unknown) => toast({ text: describeError(error), isError: true });
  const restore = useMutation(trpc.savedViews.create.mutationOptions({ onSuccess: refresh, onError }));
  const remove = useMutation(
    trpc.savedViews.delete.mutationOptions({
      onSuccess: () => {
        toast({ text: `View ${name} deleted`, undo: () => restore.mutate({ page, name, query }) });
        refresh();
      },
      onError,
    }),
  );
  return (
    <div className="flex items-center gap-1">
      <Link href={href} prefetch={false} className={MENU_ITEM} aria-current={isShown ? 'true' : undefined}>
        <span className="min-w-0 flex-1 truncate" title={view.createdBy ? `${name}, saved by ${view.createdBy}` : name}>
          {name}
        </span>
      </Link>
      {canWrite && (
        <button
          type="button"
          data-stay
          aria-label={`Delete view ${name}`}
          title="Delete"
          disabled={remove.isPending}
          onClick={() => remove.mutate({ id: view.id })}
          className="flex size-8 shrink-0 items-center justify-center rounded text-muted hover:bg-sunken hover:text-danger"
        >
          <Trash2 size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}

function NameDialog({ page, query, onClose }: { page: ViewPage; query: string; onClose(): void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const create = useMutation(
    trpc.savedViews.create.mutationOptions({
      onSuccess: ({ name }) => {
        toast({ text: `View ${name} saved for everyone who sees this integration` });
        void queryClient.invalidateQueries({ queryKey: trpc.savedViews.pathKey() });
        onClose();
      },
      onError: () => {},
    }),
  );
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate({ page, query, name: String(new FormData(event.currentTarget).get('name')) });
  };
  return (
    <Dialog title="Save this view" isOpen onClose={onClose}>
      <form onSubmit={save} className="space-y-4">
        <Field
          label="Name"
          hint="Keeps the filters and the order of the list. Everyone who sees this integration sees it."
          error={findFault(create.error, 'name') ?? findFault(create.error, 'query')}
        >
          <Input name="name" required maxLength={60} autoComplete="off" />
        </Field>
        <FormFault error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={create.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
