/** Confirms a form of the demo. The empty element is there from the start, so that screen readers announce its text. */
export function HandedIn({ isHandedIn }: { isHandedIn: boolean }) {
  return (
    <p role="status" className="text-muted">
      {isHandedIn && 'Handed in. What you wrote stayed in this page.'}
    </p>
  );
}
