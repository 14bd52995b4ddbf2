/** After this time without a sign of a person, calls are those of the page's timers alone. */
const ATTENDED_MS = 5 * 60_000;

/** Not `scroll`: a page scrolls by itself when what it shows becomes shorter. */
const SIGNS = ['pointerdown', 'pointermove', 'wheel', 'keydown', 'input', 'click'] as const;

/** Since the page was loaded, which somebody did. */
let attendedAtMs = 0;

/** Begins to note when somebody is at the page. Returns how to end that. */
export function watchAttendance(): () => void {
  const note = ({ isTrusted }: Event) => {
    if (isTrusted) attendedAtMs = performance.now();
  };
  for (const sign of SIGNS) document.addEventListener(sign, note, { capture: true, passive: true });
  return () => {
    for (const sign of SIGNS) document.removeEventListener(sign, note, { capture: true });
  };
}

/** Whether nobody has been at the page for so long that its calls must not prolong the session of staff. */
export const isUnattended = () => performance.now() - attendedAtMs > ATTENDED_MS;
