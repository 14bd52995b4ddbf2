import { Button } from './button';
import { showCount } from './count';
import { RefreshCw } from './icons';

interface NewRowsProps {
  newRows: number;
  isMore: boolean;
  show(): void;
}

/** Says how many rows are newer than a list, and loads them. It keeps its place while there are none. */
export function NewRows({ newRows, isMore, show }: NewRowsProps) {
  return (
    <span role="status">
      {newRows > 0 && (
        <Button kind="quiet" onClick={show}>
          <RefreshCw size={14} aria-hidden />
          {isMore ? `More than ${showCount(newRows)}` : showCount(newRows)} new
        </Button>
      )}
    </span>
  );
}
