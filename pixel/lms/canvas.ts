import { describeVariable } from '../document';

/** What Canvas writes into each of its pages. */
export const readUserId = (): unknown => describeVariable('ENV')!.value.current_user_id;

/** The text of an assignment, and essays of quizzes. */
export const FIELDS = '#submission_body,textarea.question_input';
