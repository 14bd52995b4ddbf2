/** What waits at a gate goes on when the gate is opened. */
export interface Gate {
  opened: Promise<void>;
  open(): void;
}

/** Creates a closed gate. `Promise.withResolvers` needs Node 22. */
export function createGate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
