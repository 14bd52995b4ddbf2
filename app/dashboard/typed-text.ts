type TextField = HTMLInputElement | HTMLTextAreaElement;

const TEXT_FIELDS = 'form textarea, form input:not([type="checkbox"])';

/** The fields of forms that somebody has typed in, as long as the page shows them. */
const typed = new Set<TextField>();

/** Begins to note in which fields somebody types. Returns how to end that. */
export function watchTyping(): () => void {
  const note = ({ target }: Event) => {
    for (const field of typed) if (!field.isConnected) typed.delete(field);
    if (target instanceof Element && target.matches(TEXT_FIELDS)) typed.add(target as TextField);
  };
  document.addEventListener('input', note);
  return () => document.removeEventListener('input', note);
}

/** A form that stays after it was saved says so while it holds nothing else. */
const SAVED = 'form[data-draft="false"]';

/** Whether a part of the page has text that somebody has typed into a form, and that is lost with that part. */
export const holdsTypedText = (part: Node) =>
  [...typed].some((field) => part.contains(field) && field.value !== '' && !field.closest(SAVED));
