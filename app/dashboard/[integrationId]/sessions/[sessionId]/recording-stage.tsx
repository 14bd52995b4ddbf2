import { useMemo } from 'react';
import {
  cutTrack,
  findLast,
  findPlace,
  type Scene,
  type SceneDocument,
  type ScenePlace,
  type ScenePress,
} from './recording-reader';
import { describeRole } from './recording-words';

/** The tail of the pointer: pieces that fade. */
const TAIL_MS = 2_000;
const TAIL_PIECES = 4;
/** For how long a press can be seen. */
const PRESS_MS = 900;
/** Where the page tells no size of its window. */
const WINDOW = { width: 1_280, height: 720 };
const MIN_LABELLED_PX = 28;

const writePath = (places: readonly ScenePlace[]) =>
  places.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${Math.round(x)} ${Math.round(y)}`).join('');

/** Finds the document in which something happened last before a moment. */
export function findShownDocument({ documents, shown }: Scene, atMs: number): SceneDocument | undefined {
  return documents[findLast(shown, atMs)?.place ?? 0];
}

/** The window of a page at a moment: what was pressed in it, and the path of the pointer so far. */
export function RecordingStage({ scene, atMs }: { scene: Scene; atMs: number }) {
  const document = findShownDocument(scene, atMs);
  const boxes = useMemo(() => listBoxes(document?.presses ?? []), [document]);
  if (!document) return null;
  const { width, height } = findLast(document.windows, atMs) ?? document.windows[0] ?? WINDOW;
  const scrolled = findPlace(document.scrolls, atMs)?.y ?? 0;
  const pointer = findPlace(document.path, atMs);
  const pressed = document.presses.filter((press) => press.atMs <= atMs && atMs - press.atMs < PRESS_MS);
  const tail = Array.from({ length: TAIL_PIECES }, (_, piece) => {
    const [from, to] = [TAIL_PIECES - piece, TAIL_PIECES - piece - 1].map(
      (part) => atMs - (part * TAIL_MS) / TAIL_PIECES,
    );
    return { piece, places: cutTrack(document.path, from!, to!) };
  });
  // Sizes of marks are of the drawing, so that they look alike in windows of any size.
  const unit = Math.max(width, 1) / 100;
  return (
    <svg
      viewBox={`0 0 ${Math.max(width, 1)} ${Math.max(height, 1)}`}
      className="size-full"
      aria-hidden="true"
      data-pointer={pointer && `${Math.round(pointer.x)} ${Math.round(pointer.y)}`}
    >
      <rect width="100%" height="100%" className="fill-surface stroke-line-strong" strokeWidth={unit / 4} />
      <g transform={`translate(0 ${-scrolled})`}>
        {boxes.map(({ box, role, atMs: firstMs }) => (
          <g key={`${box.x} ${box.y} ${box.width} ${box.height}`}>
            <rect
              {...box}
              rx={unit / 2}
              className={
                pressed.some((press) => isSame(press, { box }))
                  ? 'fill-accent-soft stroke-accent'
                  : 'fill-sunken stroke-line-strong'
              }
              strokeWidth={unit / 4}
              strokeDasharray={firstMs > atMs ? unit : undefined}
            />
            {box.width > MIN_LABELLED_PX && box.height > 2 * unit && (
              <text x={box.x + unit} y={box.y + box.height / 2 + 0.7 * unit} fontSize={2 * unit} className="fill-faint">
                {describeRole(role).replace(/^an? /, '')}
              </text>
            )}
          </g>
        ))}
      </g>
      <path
        d={writePath(cutTrack(document.path, Number.NEGATIVE_INFINITY, atMs))}
        className="fill-none stroke-type-mouse"
        strokeWidth={unit / 3}
        strokeOpacity={0.5}
      />
      {tail.map(({ piece, places }) => (
        <path
          key={piece}
          d={writePath(places)}
          className="fill-none stroke-type-mouse"
          strokeWidth={unit / 1.6}
          strokeLinecap="round"
          strokeOpacity={(piece + 1) / TAIL_PIECES}
        />
      ))}
      {pressed.map((press) => (
        <circle
          key={press.atMs}
          cx={press.x}
          cy={press.y}
          r={1.6 * unit}
          className="fill-none stroke-bot"
          strokeWidth={unit / 2.5}
          strokeOpacity={1 - (atMs - press.atMs) / PRESS_MS}
        />
      ))}
      {!pointer && boxes.length === 0 && (
        <text x="50%" y="50%" textAnchor="middle" fontSize={2.2 * unit} className="fill-faint">
          No pointer on this page
        </text>
      )}
      {pointer && (
        <circle
          cx={pointer.x}
          cy={pointer.y}
          r={0.8 * unit}
          className="fill-type-mouse stroke-surface"
          strokeWidth={unit / 4}
        />
      )}
    </svg>
  );
}

const isSame = ({ box: a }: Pick<ScenePress, 'box'>, { box: b }: Pick<ScenePress, 'box'>) =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

/** Lists each box that was pressed once, the largest first, so that it hides none. */
function listBoxes(presses: readonly ScenePress[]): ScenePress[] {
  const boxes: ScenePress[] = [];
  for (const press of presses) {
    const { width, height } = press.box;
    if (width > 0 && height > 0 && !boxes.some((known) => isSame(known, press))) boxes.push(press);
  }
  return boxes.sort((a, b) => b.box.width * b.box.height - a.box.width * a.box.height);
}
