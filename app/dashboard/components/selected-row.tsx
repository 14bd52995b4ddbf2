'use client';
import { type RefObject, useEffect, useRef, useState } from 'react';

type BodyRef = RefObject<HTMLTableSectionElement | null>;

const findRow = (body: HTMLTableSectionElement | null, key: string) =>
  body?.querySelector<HTMLTableRowElement>(`tr[data-row="${CSS.escape(key)}"]`);

interface AnnouncementProps<Row> {
  rows: Row[] | undefined;
  rowKey(row: Row): string;
  rowName?: (row: Row) => string;
  selected?: string | null;
  body: BodyRef;
}

/**
 * Says which row is selected. The keys move the selection and not the focus, so a screen reader hears nothing of it otherwise.
 * It says nothing when the page opens.
 */
export function Announcement<Row>({ rows, rowKey, rowName, selected, body }: AnnouncementProps<Row>) {
  const first = useRef(selected);
  const [text, setText] = useState('');
  useEffect(() => {
    if (first.current === selected) return;
    first.current = undefined;
    const at = selected ? (rows?.findIndex((row) => rowKey(row) === selected) ?? -1) : -1;
    const row = rows?.[at];
    const name = row && (rowName?.(row) ?? findRow(body.current, rowKey(row))?.cells[0]?.textContent);
    setText(name ? `Selected: ${name}, row ${at + 1} of ${rows?.length}` : '');
  }, [selected, rows, rowKey, rowName, body]);
  return (
    <p role="status" className="sr-only">
      {text}
    </p>
  );
}

/**
 * Gives the focus back to the row whose details were closed. A row takes no focus when it is clicked or tapped, so the details
 * have nothing to give it back to.
 */
export function useFocusReturn(body: BodyRef, selected: string | null) {
  const before = useRef(selected);
  useEffect(() => {
    const closed = before.current;
    before.current = selected;
    if (closed === null || selected !== null) return;
    const frame = requestAnimationFrame(() => {
      const { activeElement } = document;
      if (activeElement !== null && activeElement !== document.body) return;
      findRow(body.current, closed)?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [body, selected]);
}
