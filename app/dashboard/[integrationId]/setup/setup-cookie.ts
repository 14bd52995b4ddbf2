/** Set for the path of an integration whose set-up was dismissed. */
export const SETUP_COOKIE = 'setup';

/** Reads from the cookie's value whether the set-up was dismissed in this browser. */
export const isSetupDismissed = (value: string | undefined): boolean => value === 'dismissed';
