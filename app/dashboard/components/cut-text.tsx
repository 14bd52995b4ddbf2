import { joinClasses } from './classes';

/** Text that somebody chose, cut to its width. Its title shows the whole. */
export const CutText = ({ text, className }: { text: string; className?: string }) => (
  <span className={joinClasses('block truncate', className)} title={text}>
    {text}
  </span>
);
