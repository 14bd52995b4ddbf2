// What a hand does to a mouse and a keyboard. Keys have the names of X keysyms.

export type Deed = { atMs: number } & (
  | { do: 'move'; x: number; y: number }
  | { do: 'press' | 'release'; button: number }
  | { do: 'keyDown' | 'keyUp'; key: string }
);

export interface Devices {
  /** Does the deeds at their times, which count from now. Ends with the last one. */
  perform(deeds: readonly Deed[]): Promise<void>;
  close?(): Promise<void>;
}

/** The buttons of an X server. The wheel is two of them. */
export const BUTTONS = { left: 1, right: 3, wheelUp: 4, wheelDown: 5 } as const;

/** Writes deeds as a script of xdotool, in the order of their times. */
export function writeScript(deeds: readonly Deed[]): string[] {
  let passedMs = 0;
  return [...deeds]
    .sort((a, b) => a.atMs - b.atMs)
    .flatMap((deed) => {
      const pauseMs = deed.atMs - passedMs;
      passedMs = Math.max(passedMs, deed.atMs);
      return pauseMs > 0 ? [`sleep ${(pauseMs / 1_000).toFixed(4)}`, writeCommand(deed)] : [writeCommand(deed)];
    });
}

function writeCommand(deed: Deed): string {
  switch (deed.do) {
    case 'move':
      return `mousemove ${deed.x} ${deed.y}`;
    case 'press':
      return `mousedown ${deed.button}`;
    case 'release':
      return `mouseup ${deed.button}`;
    case 'keyDown':
      return `keydown ${deed.key}`;
    case 'keyUp':
      return `keyup ${deed.key}`;
  }
}
