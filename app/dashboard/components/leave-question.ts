'use client';
import { type RefObject, useEffect } from 'react';
import { holdsTypedText } from '../typed-text';

const QUESTION = 'Leave this page? What you have typed is not saved.';

type Form = RefObject<HTMLFormElement | null>;

const isTyped = ({ current }: Form) => current !== null && holdsTypedText(current);

/** The forms of the page that ask. */
const forms = new Set<Form>();

/** Whether anything but a link, such as a key, may leave the page. Asks if somebody has typed in a form that asks. */
export const mayLeave = (): boolean => ![...forms].some(isTyped) || window.confirm(QUESTION);

/**
 * Asks before the browser's back and forward buttons show another page instead of one that would lose something. Returns how to end that.
 * A browser without the Navigation API does not ask. Before another document the browser itself asks, if somebody listens to `beforeunload`.
 */
export function askOnTraversal(wouldLose: () => boolean, question: string): () => void {
  const ask = (event: NavigateEvent) => {
    const { navigationType, cancelable, destination } = event;
    if (navigationType !== 'traverse' || !cancelable || !destination.sameDocument) return;
    const isLeft = new URL(destination.url).pathname !== window.location.pathname;
    if (isLeft && wouldLose() && !window.confirm(question)) event.preventDefault();
  };
  window.navigation?.addEventListener('navigate', ask);
  return () => window.navigation?.removeEventListener('navigate', ask);
}

/** The same for typed text in forms that ask, and in dialogs. */
export const watchTraversals = () =>
  askOnTraversal(
    () => [...forms].some(isTyped) || [...document.querySelectorAll('dialog[open]')].some(holdsTypedText),
    QUESTION,
  );

/**
 * Asks before a link, or the browser, leaves a page with a form in which somebody has typed. A link of the form itself, such as
 * Cancel, does not ask. What navigates without a link asks `mayLeave`.
 */
export function useLeaveQuestion(form: Form): void {
  useEffect(() => {
    forms.add(form);
    let isAnswered = false;
    const askOnLink = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      if (!link || !isLeft(event, link) || form.current?.contains(link) || !isTyped(form)) return;
      isAnswered = window.confirm(QUESTION);
      if (isAnswered) return;
      event.preventDefault();
      event.stopPropagation();
    };
    // The browser shows its standard question.
    const askOnUnload = (event: BeforeUnloadEvent) => {
      if (!isAnswered && isTyped(form)) event.preventDefault();
    };
    // Before the router hears of it.
    window.addEventListener('click', askOnLink, { capture: true });
    window.addEventListener('beforeunload', askOnUnload);
    return () => {
      forms.delete(form);
      window.removeEventListener('click', askOnLink, { capture: true });
      window.removeEventListener('beforeunload', askOnUnload);
    };
  }, [form]);
}

/** Whether a click on a link shows something else in this tab. */
function isLeft(event: MouseEvent, link: HTMLAnchorElement): boolean {
  const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link.target === '_blank';
  return !isElsewhere && link.pathname !== window.location.pathname;
}
