import { describe, expect, it } from 'vitest';
import { countNewRows } from '../../app/dashboard/new-rows';

const rows = (...ids: string[]) => ids.map((id) => ({ id }));
const listed = new Set(['c', 'b', 'a']);

describe('the new rows of a list', () => {
  it('are those before the first one that it has', () => {
    expect(countNewRows(rows('c', 'b', 'a'), listed)).toEqual({ newRows: 0, isMore: false });
    expect(countNewRows(rows('e', 'd', 'c'), listed)).toEqual({ newRows: 2, isMore: false });
  });

  it('are none if rows of it only left its filter', () => {
    expect(countNewRows(rows('b', 'a'), listed)).toEqual({ newRows: 0, isMore: false });
    expect(countNewRows(rows('d', 'a'), listed)).toEqual({ newRows: 1, isMore: false });
  });

  it('may be more than were read', () => {
    expect(countNewRows(rows('f', 'e', 'd'), listed)).toEqual({ newRows: 3, isMore: true });
  });

  it('are all that were read if it had none', () => {
    expect(countNewRows(rows('b', 'a'), new Set())).toEqual({ newRows: 2, isMore: false });
    expect(countNewRows([], new Set())).toEqual({ newRows: 0, isMore: false });
  });
});
