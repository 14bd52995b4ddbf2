// Whom the detector must not accuse by mistake (docs/detection.md), and which controls stand for them. What has no real
// way to the browser on this machine enters no interval.

export interface Group {
  people: string;
  /** Families of controls. None: not measured. */
  families: readonly string[];
  /** What the controls do not cover, in words. */
  unmeasured: string | null;
}

export const GROUPS: readonly Group[] = [
  { people: 'a mouse and a keyboard', families: ['mouse', 'typist'], unmeasured: null },
  { people: 'a keyboard only', families: ['keyboard-only'], unmeasured: null },
  { people: 'a touchscreen', families: ['touch'], unmeasured: 'phones, and keyboards on the screen of a tablet' },
  { people: 'a tap-to-click trackpad', families: ['trackpad'], unmeasured: 'the drivers of other systems' },
  {
    people: 'a screen reader',
    families: ['screen-reader'],
    unmeasured: 'the programs themselves: pages are acted on through AT-SPI, as Orca does',
  },
  {
    people: 'switches, head and eye trackers',
    families: ['switch-access'],
    unmeasured: 'the programs themselves: their input is as their source code sends it',
  },
  {
    people: 'dictation and voice control',
    families: ['voice'],
    unmeasured: 'dictation that inserts text without keys, as on Windows and macOS',
  },
  {
    people: 'an input method',
    families: ['input-method'],
    unmeasured: 'those with a list of candidates, as for Chinese and Japanese',
  },
  { people: 'paste', families: ['paste'], unmeasured: null },
  { people: 'autofill and password managers', families: [], unmeasured: 'the pages have no form that they fill' },
  { people: 'zoom and other pixel ratios', families: ['scaled'], unmeasured: 'zoom by pinching' },
  { people: 'a remote desktop', families: ['remote-desktop'], unmeasured: 'RDP and Citrix; the link is a model' },
  { people: 'open developer tools', families: ['developer-tools'], unmeasured: null },
  { people: 'a slow machine', families: ['slow-machine'], unmeasured: null },
  { people: 'reading only, and other tabs', families: ['onlooker'], unmeasured: null },
];
