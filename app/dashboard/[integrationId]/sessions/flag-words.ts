const FLAG_WORDS = new Map([
  // Environment
  ['webdriver', 'Driven by automation (webdriver)'],
  ['headless', 'Browser without a window'],
  ['automation-globals', 'Left-overs of an automation tool in the page'],
  ['devtools-protocol', 'Controlled over the developer tools’ protocol'],
  ['synthetic-window', 'Window with impossible sizes'],
  ['declared-agent', 'Says that it is an agent'],
  // Integrity
  ['untrusted-events', 'Events made by a script'],
  ['zero-pressure', 'Presses without pressure'],
  ['fractional-coordinates', 'Pointer at fractions of a pixel'],
  ['movement-mismatch', 'Moves that do not add up'],
  ['capital-without-shift', 'Capital letters without Shift'],
  ['replayed-trace', 'Same input as in another session'],
  // Pointer
  ['no-approach', 'Presses without moving there'],
  ['exact-centre', 'Presses the exact middle of elements'],
  ['instant-press', 'Presses shorter than a finger can'],
  ['uncoalesced-moves', 'Moves one by one, as no mouse sends them'],
  // Typing
  ['instant-keys', 'Keys held shorter than a finger can'],
  ['uniform-typing', 'Types at an even pace'],
  ['text-without-keys', 'Text appears without keys'],
  // Flow
  ['focus-without-cause', 'Fields get the focus without a press or key'],
  ['page-jumps', 'The page jumps to what is pressed'],
  ['act-think', 'Nothing moves between two acts'],
  // Network
  ['datacenter-network', 'Comes from a data centre'],
  // Context: evidence that never counts
  ['telemetry-gap', 'Part of the telemetry is missing'],
  ['clock-inconsistent', 'The browser’s clock jumps'],
  ['insufficient-evidence', 'Too little to judge'],
  ['off-grid-times', 'Times that devices do not have'],
]);

const DECLARED_AGENT = 'declared-agent:';

/** Describes a detection flag in plain words. An unknown flag is shown as it is, without dashes. */
export function describeFlag(flag: string): string {
  if (flag.startsWith(DECLARED_AGENT)) return `Declared agent: ${flag.slice(DECLARED_AGENT.length)}`;
  return FLAG_WORDS.get(flag) ?? flag.replace(/[-_]/g, ' ');
}
