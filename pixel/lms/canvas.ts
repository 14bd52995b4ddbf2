declare global {
  interface Window {
    /** What Canvas writes into each of its pages. */
    ENV?: { current_user_id?: unknown };
  }
}

export const readUserId = () => window.ENV!.current_user_id;

/** The text of an assignment, and essays of quizzes. */
export const FIELDS = '#submission_body,textarea.question_input';
