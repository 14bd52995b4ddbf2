const PSEUDONYM = /^erased-[0-9a-f]{32}$/;

/** Whether an id is one that replaced a user's when they were erased. */
export const isPseudonym = (userId: string) => PSEUDONYM.test(userId);
