import { describeVariable, findElement } from '../document';

/**
 * What Moodle writes into each of its pages. Old versions do not tell the user, but the link to the profile does. Its user 1 is a
 * guest, 0 nobody.
 */
export function readUserId(): unknown {
  const { userId } = describeVariable('M')!.value.cfg;
  if (userId === 1) return;
  return userId ?? findElement<HTMLAnchorElement>("nav .usermenu [href*='profile.php?id=']")!.href.split('?id=')[1];
}

/** Essays of quizzes, and the online text of an assignment. */
export const FIELDS = '.qtype_essay_response,[id^=id_onlinetext]';
