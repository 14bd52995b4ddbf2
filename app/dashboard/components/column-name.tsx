import { joinClasses } from './classes';
import { ArrowDown, ArrowUp } from './icons';
import type { Sorting } from './sorting';

export interface NamedColumn {
  name: string;
  isNumber?: boolean;
  /** The orders by this column, by their names in the URL. Its name becomes a button. */
  sorts?: { ascending?: string; descending?: string };
}

type Direction = 'ascending' | 'descending';

/** Whether the list is sorted by the column. A column that cannot sort says nothing. */
export function findDirection({ sorts }: NamedColumn, sorting: Sorting | undefined): Direction | 'none' | undefined {
  if (!sorts || !sorting) return undefined;
  if (sorts.ascending === sorting.current) return 'ascending';
  return sorts.descending === sorting.current ? 'descending' : 'none';
}

/** The name of a column. If it can sort, a button: a click sorts by it, the next one the other way round or as usual. */
export function ColumnName({ column, sorting }: { column: NamedColumn; sorting: Sorting | undefined }) {
  const { name, sorts } = column;
  const direction = findDirection(column, sorting);
  if (!sorts || !sorting || !direction) return name;
  const ways = [sorts.descending, sorts.ascending].filter((sort) => sort !== undefined);
  const next = ways[ways.indexOf(sorting.current) + 1] ?? null;
  // A list that has no other order keeps the one that it has.
  const chosen = next ?? (ways.length > 1 ? ways[0]! : null);
  const Arrow = direction === 'ascending' ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      onClick={() => sorting.set(chosen)}
      className={joinClasses(
        'relative rounded underline-offset-4 hover:text-ink hover:underline',
        direction !== 'none' && 'font-semibold text-ink',
      )}
    >
      {name}
      {/* In the padding of the cell, so that a column is as wide whether it is sorted or not. */}
      {direction !== 'none' && (
        <Arrow
          size={10}
          aria-hidden
          className={joinClasses('absolute top-1 text-accent', column.isNumber ? 'right-full' : 'left-full')}
        />
      )}
    </button>
  );
}
