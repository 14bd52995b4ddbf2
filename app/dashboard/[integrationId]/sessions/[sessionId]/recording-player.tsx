'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Recording } from '../../../../../contract/recordings';
import { IconButton } from '../../../components/button';
import { joinClasses } from '../../../components/classes';
import { showCount } from '../../../components/count';
import { PauseIcon, Play, SkipBack, SkipForward } from '../../../components/icons';
import { ErrorState, Skeleton } from '../../../components/states';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { showPath } from '../session-facts';
import { chooseTypeColor, showOffset } from '../timeline';
import type { MomentChoice } from './finding-row';
import { countUpTo, findLast, readScene, type Scene, type SceneKey } from './recording-reader';
import { findShownDocument, RecordingStage } from './recording-stage';
import { type FindingMoment, RecordingTrack } from './recording-track';
import { describeMark, KEY_WORDS } from './recording-words';

const REFRESH_MS = 5_000;
const SPEEDS = [1, 4, 16];
/** How often a playing recording moves on for people who prefer reduced motion. */
const CALM_STEP_MS = 500;
const SHOWN_MARKS = 6;
const RHYTHM_MS = 5_000;
const MAX_KEY_MS = 300;

interface RecordingPlayerProps extends MomentChoice {
  sessionId: string;
  isLive: boolean;
  moments: readonly FindingMoment[];
}

/** Loads a recording and plays it. The page loads this file when the recording is in view. */
export function RecordingPlayer({ sessionId, isLive, ...rest }: RecordingPlayerProps) {
  const trpc = useTRPC();
  const query = useQuery(
    trpc.recordings.get.queryOptions({ sessionId }, { refetchInterval: isLive ? REFRESH_MS : false }),
  );
  if (query.error && !query.data)
    return <ErrorState message={describeError(query.error)} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton className="h-full" />;
  const { recording } = query.data;
  if (!recording || recording.documents.length === 0)
    return <p className="text-muted">Nothing is recorded {isLive ? 'yet' : 'in this session'}.</p>;
  return <Player recording={recording} {...rest} />;
}

function Player({
  recording,
  moments,
  chosenMs,
  choose,
}: { recording: Recording } & Omit<RecordingPlayerProps, 'sessionId' | 'isLive'>) {
  const scene = useMemo(() => readScene(recording), [recording]);
  const [time, setTime] = useState(() => chosenMs ?? scene.startMs);
  const atMs = Math.min(scene.endMs, Math.max(scene.startMs, time));
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(4);
  usePlaying(isPlaying, (passedMs) => setTime((ms) => Math.min(scene.endMs, ms + passedMs * speed)));
  useEffect(() => {
    if (isPlaying && atMs >= scene.endMs) setPlaying(false);
  }, [isPlaying, atMs, scene.endMs]);
  useEffect(() => {
    if (chosenMs === null) return;
    setPlaying(false);
    setTime(chosenMs);
  }, [chosenMs]);
  /** Goes to a finding, also if it is the one that was chosen last. */
  const goTo = (ms: number) => {
    setPlaying(false);
    setTime(ms);
    choose(ms);
  };
  const togglePlay = () => {
    if (atMs >= scene.endMs) setTime(scene.startMs);
    setPlaying(!isPlaying);
  };
  const before = moments.findLast((moment) => moment.atMs < Math.floor(atMs));
  const after = moments.find((moment) => moment.atMs > Math.ceil(atMs));
  const recent = scene.marks.slice(0, countUpTo(scene.marks, atMs)).slice(-SHOWN_MARKS).reverse();
  const page = findLast(findShownDocument(scene, atMs)?.pages ?? [], atMs);
  const isFramed = findShownDocument(scene, atMs)?.isFramed;
  const chosen = moments.find((moment) => moment.atMs === chosenMs);
  return (
    <div className="space-y-3">
      <div className="grid gap-3 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0">
          <p className="mb-1 truncate text-muted text-xs" title={page?.url ?? undefined}>
            {page?.url ? showPath(page.url) : 'A page without a known address'}
            {isFramed && ' · in a frame'}
          </p>
          <div className="h-48 rounded bg-page p-2 sm:h-96" data-stage>
            <RecordingStage scene={scene} atMs={atMs} />
          </div>
        </div>
        <div className="min-w-0">
          <p className="mb-1 truncate text-muted text-xs" title="The height is how long each was held">
            Keys of the last 5 s
          </p>
          <Rhythm keys={scene.keys} typing={scene.typing} atMs={atMs} />
          <ol className="mt-2 h-40 overflow-hidden text-xs" aria-label="What happened last">
            {recent.map((mark, index) => (
              <li
                // biome-ignore lint/suspicious/noArrayIndexKey: two things may happen at one moment
                key={`${mark.atMs} ${index}`}
                className={joinClasses('flex gap-2 py-0.5', index > 0 && 'text-muted')}
              >
                <span className="w-10 shrink-0 text-right text-faint">{showOffset(mark.atMs)}</span>
                <span className="min-w-0 truncate" title={describeMark(mark)}>
                  {describeMark(mark)}
                </span>
              </li>
            ))}
          </ol>
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-1">
        <IconButton label="The finding before" disabled={!before} onClick={() => before && goTo(before.atMs)}>
          <SkipBack size={16} aria-hidden />
        </IconButton>
        <IconButton label={isPlaying ? 'Pause' : 'Play'} kind="plain" onClick={togglePlay}>
          {isPlaying ? <PauseIcon size={16} aria-hidden /> : <Play size={16} aria-hidden />}
        </IconButton>
        <IconButton label="The next finding" disabled={!after} onClick={() => after && goTo(after.atMs)}>
          <SkipForward size={16} aria-hidden />
        </IconButton>
        <fieldset className="ml-2 flex rounded border border-line-strong">
          <legend className="sr-only">Speed</legend>
          {SPEEDS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={speed === one}
              onClick={() => setSpeed(one)}
              className="h-7 min-w-9 px-2 text-muted text-xs aria-pressed:bg-accent-soft aria-pressed:text-accent"
            >
              {one}×
            </button>
          ))}
        </fieldset>
        <span className="ml-2 min-w-0 flex-1 truncate text-muted text-xs">
          {showOffset(atMs)} of {showOffset(scene.endMs)}
          {chosen && ` · ${chosen.name}`}
        </span>
      </div>
      <RecordingTrack
        segments={recording.segments}
        words={recent[0] ? describeMark(recent[0]) : ''}
        onMove={(ms) => {
          setPlaying(false);
          setTime(ms);
        }}
        onTogglePlay={togglePlay}
        {...{ scene, moments, chosenMs, atMs }}
      />
      <Limits recording={recording} chosenMs={chosenMs} />
    </div>
  );
}

/** The keys of the last seconds: when each was pressed, and how long it was held. */
function Rhythm({ keys, typing, atMs }: Pick<Scene, 'keys' | 'typing'> & { atMs: number }) {
  const shown = keys.slice(countUpTo(keys, atMs - RHYTHM_MS), countUpTo(keys, atMs));
  const place = (ms: number) => 100 - ((atMs - ms) / RHYTHM_MS) * 100;
  const height = ({ heldMs }: SceneKey) => 15 + 85 * Math.min(1, (heldMs ?? 0) / MAX_KEY_MS);
  return (
    <div className="relative h-12 overflow-hidden rounded bg-sunken" aria-hidden>
      {shown.map((key, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: two keys may be pressed at one moment
          key={`${key.atMs} ${index}`}
          title={`${KEY_WORDS[key.kind]}${key.heldMs === null ? '' : `, held ${key.heldMs} ms`}`}
          className="absolute bottom-0 w-[3px] rounded-t"
          style={{
            left: `${place(key.atMs)}%`,
            height: `${height(key)}%`,
            background: chooseTypeColor(key.kind === 'erase' ? 'clipboard' : 'keyboard'),
            opacity: key.kind === 'character' || key.kind === 'erase' ? 1 : 0.5,
          }}
        />
      ))}
      {shown.length === 0 && (
        <span className="absolute inset-0 flex items-center px-2 text-faint text-xs">
          {typing.length > 0 ? 'Too many keys to show each: the lane shows runs of typing' : 'No keys'}
        </span>
      )}
    </div>
  );
}

/** What the drawing does not show, and how exact it is. */
function Limits({ recording, chosenMs }: { recording: Recording; chosenMs: number | null }) {
  const { cutMs, endMs, leftOut, pathTolerancePx } = recording;
  return (
    <p className="text-faint text-xs">
      Outline: only the window, and the elements that were pressed, where they were then. Pages, texts and which keys
      were pressed are not recorded. The path is exact to {pathTolerancePx} px.
      {leftOut > 0 && ` ${showCount(leftOut)} presses and other events are left out, evenly.`}
      {cutMs !== null &&
        ` The session is longer than what can be shown: this is its beginning, until ${showOffset(cutMs)}.`}
      {chosenMs !== null && chosenMs > endMs && ' The chosen moment is after it.'}
    </p>
  );
}

/** Calls back while something plays, with the time that has passed: at each frame, or in steps for people who prefer reduced motion. */
function usePlaying(isPlaying: boolean, advance: (passedMs: number) => void) {
  const latest = useRef(advance);
  useEffect(() => {
    latest.current = advance;
  });
  useEffect(() => {
    if (!isPlaying) return;
    if (window.matchMedia('(prefers-reduced-motion: reduce)').matches) {
      const timer = setInterval(() => latest.current(CALM_STEP_MS), CALM_STEP_MS);
      return () => clearInterval(timer);
    }
    let beforeMs: number | null = null;
    let frame = requestAnimationFrame(function step(nowMs) {
      if (beforeMs !== null) latest.current(nowMs - beforeMs);
      beforeMs = nowMs;
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
}
