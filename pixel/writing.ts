// Which fields are written in at length. What is written there is never read.
import { guard } from './guard';
import { FIELDS } from './lms/adapters';

/** An enum, because the bundler writes its values in place. */
enum Limit {
  marks = 50,
}

/** The page's marks, the latest first: a selector or an element, and the id of the text there. */
const marks: [what: string | Element, document: string][] = [];

/** Marks fields, or elements around them, for a text. */
export function markWriting(what: unknown, document: unknown): void {
  marks.unshift([what as string, `${[document]}`]);
  marks.splice(Limit.marks);
}

/** Finds the id of a field's text. Empty if it has none; nothing if the field is not marked. */
export const findWriting = (field: Element): string | null | undefined =>
  marks.find(([what]) =>
    guard(() => ((what as Node).nodeType ? (what as Node).contains(field) : field.closest(what as string)))(),
  )?.[1] ??
  field.closest<HTMLElement>('[data-writing]')?.dataset.writing ??
  (field.closest(FIELDS) && '');
