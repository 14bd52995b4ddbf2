const FLAG_WORDS = new Map([
  ['webdriver', 'Driven by automation (webdriver)'],
  ['linear-mouse-path', 'Mouse moves in straight lines'],
  ['superhuman-typing', 'Types faster than people can'],
  ['no-scroll', 'Never scrolls'],
  ['datacenter-network', 'Comes from a data centre'],
  ['agent-tool-calls', 'Makes the tool calls of an agent'],
]);

/** Describes a detection flag in plain words. An unknown flag is shown as it is, without dashes. */
export const describeFlag = (flag: string) => FLAG_WORDS.get(flag) ?? flag.replace(/[-_]/g, ' ');
