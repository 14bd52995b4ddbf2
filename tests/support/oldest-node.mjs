// Node before 20.19 cannot `require` an ES module. The product supports 20.9, so tests build and start it without that: a package
// that needs it is found on every Node.
const FLAG = '--no-experimental-require-module';

/** The variables under which this Node loads modules as the oldest supported one does. */
export const OLDEST_NODE = process.allowedNodeEnvironmentFlags.has(FLAG) ? { NODE_OPTIONS: FLAG } : {};
