import { type Control, type Desk, defineControl } from '../people/control';

// Pages that are larger or smaller than usual: zoom by keyboard, and screens with more pixels than CSS has.

const ZOOM_LIMIT_MS = 5_000;

async function zoom({ person, visit: { geometry, seed } }: Desk): Promise<void> {
  const { pixelRatio } = (await geometry.waitFor(() => true)).window;
  const [key, times] = seed % 3 === 0 ? ['minus', 1] : ['equal', 1 + (seed % 2)];
  for (let i = 0; i < times; i++) await person.tap(key as string, 'Control_L');
  await geometry.waitFor(({ window }) => window.pixelRatio !== pixelRatio, ZOOM_LIMIT_MS);
  await person.rest(600);
}

const scaled = (name: string, factor: number, width: number, height: number): Control => ({
  ...{ name, family: 'pixel-ratio' },
  switches: [`--force-device-scale-factor=${factor}`, `--window-size=${width},${height}`],
});

export const subjects = [
  defineControl({ name: 'zoomed-chromium', family: 'zoomed', prepare: zoom }),
  defineControl({ name: 'zoomed-firefox', family: 'zoomed', browser: 'firefox', prepare: zoom }),
  defineControl(scaled('pixel-ratio-125', 1.25, 1_100, 940)),
  defineControl(scaled('pixel-ratio-150', 1.5, 900, 780)),
];
