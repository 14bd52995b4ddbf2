import { joinBatches } from '../../server/demo/visits';
import type { Trace } from '../../server/detection/trace';
import { type Recording, readTrace } from '../lab/recordings';

/** Makes one session of several recordings, one after the other, each on separate pages. */
export const chainRecordings = (recordings: readonly Recording[]): Trace => ({
  userAgent: recordings[0]!.userAgent,
  batches: joinBatches(recordings.map((recording) => readTrace(recording).batches)),
});
