export const THEME_COOKIE = 'theme';
const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Reads the theme from a cookie's value; anything unknown follows the system. */
export const readTheme = (value: string | undefined): Theme => THEMES.find((theme) => theme === value) ?? 'system';
