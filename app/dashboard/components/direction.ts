import { removeDirectionMarks } from '../../../contract/direction-marks';

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/**
 * Prepares a name that somebody else chose for the middle of a sentence, so that its direction ends with it. Otherwise the number after
 * an Arabic name stands before it, and a name with marks turns all that follows: `30 days` reads `03`.
 */
export function isolateName(name: string): string {
  const plain = removeDirectionMarks(name);
  return RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain;
}
