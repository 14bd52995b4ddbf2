/** The fills of charts in the light theme: the dashboard's (app/globals.css) and those of printed reports. */
export const CHART_COLORS = {
  bot: '#e0623c',
  medium: '#e3ad3c',
  human: '#58ada2',
  neutral: '#b4b8c4',
} as const;
