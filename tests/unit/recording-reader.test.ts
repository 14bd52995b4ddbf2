import { describe, expect, it } from 'vitest';
import {
  cutTrack,
  findLast,
  findPlace,
  readScene,
} from '../../app/dashboard/[integrationId]/sessions/[sessionId]/recording-reader';
import {
  describeLength,
  describeMark,
  describePart,
} from '../../app/dashboard/[integrationId]/sessions/[sessionId]/recording-words';
import { EventCode } from '../../contract/beacon';
import { makeRecording } from '../../server/detection/recording';
import { buildTrace, TraceBuilder } from '../support/trace';

const START_MS = 1_800_000_000_000;
/** When documents of the builder have their time origin by the server's clock. */
const ORIGIN_MS = START_MS + 40;

/** A page on which somebody moves, presses and types, and a second one. */
function readVisit() {
  const first = new TraceBuilder({ originMs: START_MS, document: '1'.repeat(16) });
  first.add(EventCode.Scroll, { y: 200 }).wait(100).move(100, 100).wait(200).move(300, 100);
  first.wait(100).press(300, 100, 80, { width: 60, height: 20, offsetX10: 0, offsetY10: 0, role: 3 });
  first.wait(100).key('letter', 70).wait(100).add(EventCode.Clipboard, { kind: 0, length: 480 });
  const second = new TraceBuilder({
    ...{ originMs: START_MS + 10_000, document: '2'.repeat(16), url: 'https://lms.example.edu/next?a=1' },
  });
  second.wait(100).add(EventCode.Focus, { role: 5 });
  const recording = makeRecording(buildTrace([first, second]).batches, ORIGIN_MS);
  return readScene({ ...recording, cutMs: null, segments: [] });
}

describe('a recording in the dashboard', () => {
  it('has the times and places that the server wrote', () => {
    const scene = readVisit();
    const [document] = scene.documents;
    expect([scene.startMs, scene.endMs]).toEqual([0, 10_200]);
    expect(document!.path).toEqual([
      { atMs: 200, x: 100, y: 100 },
      { atMs: 400, x: 300, y: 100 },
    ]);
    // In the page, not in the window.
    expect(document!.presses[0]!.box).toEqual({ x: 270, y: 290, width: 60, height: 20 });
    expect(scene.keys).toEqual([{ atMs: 680, heldMs: 70, kind: 'character' }]);
    expect(scene.marks.map((mark) => [mark.atMs, describeMark(mark)])).toEqual([
      [100, 'Page /quiz'],
      [500, 'Pressed a button, held 80 ms'],
      [850, 'Text pasted, up to 1,000 characters'],
      [10_100, 'Page /next?a=1'],
      [10_200, 'Focus on a text area'],
    ]);
    expect(scene.shown).toEqual([
      { atMs: 100, place: 0 },
      { atMs: 10_100, place: 1 },
    ]);
  });

  it('finds where a track is at a moment, and its part between two', () => {
    const { path } = readVisit().documents[0]!;
    expect(findPlace(path, 199)).toBeNull();
    expect(findPlace(path, 300)).toEqual({ x: 200, y: 100 });
    expect(findPlace(path, 9_000)).toMatchObject({ x: 300, y: 100 });
    expect(cutTrack(path, 250, 350).map(({ x }) => x)).toEqual([150, 250]);
    expect(cutTrack(path, Number.NEGATIVE_INFINITY, 300).map(({ x }) => x)).toEqual([100, 200]);
    expect(findLast(path, 399)?.x).toBe(100);
    expect(findLast(path, 100)).toBeUndefined();
  });

  it('says the score of a part as the rest of the page does', () => {
    expect(describePart({ startMs: 65_000, score: 0.29 })).toBe('From 1:05: 29 of 100 by itself');
  });

  it('says of lengths no more than their class', () => {
    expect([-1, 0, 3].map(describeLength)).toEqual(['length unknown', 'up to 10 characters', 'over 1,000 characters']);
  });
});
