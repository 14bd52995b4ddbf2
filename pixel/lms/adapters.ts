import * as canvas from './canvas';
import * as moodle from './moodle';
import * as openEdx from './open-edx';

/** The learning platforms that the pixel knows: how each tells who is signed in, and the fields for writing at length. */
export const READERS: (() => unknown)[] = [canvas.readUserId, moodle.readUserId, openEdx.readUserId];
export const FIELDS = `${canvas.FIELDS},${moodle.FIELDS}`;
