'use client';
import { type RefObject, useEffect } from 'react';
import { holdsTypedText } from '../typed-text';

const QUESTION = 'Leave this page? What you have typed is not saved.';

/**
 * Asks before a link, or the browser, leaves a page with a form in which somebody has typed. A link of the form itself, such as
 * Cancel, does not ask.
 */
export function useLeaveQuestion(form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    let isAnswered = false;
    const isTyped = () => form.current !== null && holdsTypedText(form.current);
    const askOnLink = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      if (!link || !isLeft(event, link) || form.current?.contains(link) || !isTyped()) return;
      isAnswered = window.confirm(QUESTION);
      if (isAnswered) return;
      event.preventDefault();
      event.stopPropagation();
    };
    // The browser shows its standard question.
    const askOnUnload = (event: BeforeUnloadEvent) => {
      if (!isAnswered && isTyped()) event.preventDefault();
    };
    // Before the router hears of it.
    window.addEventListener('click', askOnLink, { capture: true });
    window.addEventListener('beforeunload', askOnUnload);
    return () => {
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
