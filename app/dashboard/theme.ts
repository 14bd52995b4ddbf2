export const THEME_COOKIE = 'theme';
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** The theme that a cookie's value names; anything else follows the system. */
export const readTheme = (value: string | undefined): Theme => THEMES.find((theme) => theme === value) ?? 'system';
