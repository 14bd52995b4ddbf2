import { defineControl } from '../people/control';

const BUSY = 'while :; do :; done';
const LIMIT_S = '150';

/** A computer that has more to do than it can: two programs that compute all the time next to a browser that must wait. */
export const subjects = [
  defineControl({
    ...{ name: 'slow-machine', family: 'slow-machine', needs: ['timeout', 'nice'] },
    traits: { searchMs: 700 },
    async furnish(screen) {
      for (let i = 0; i < 2; i++) screen.open('nice', ['-n', '5', 'timeout', LIMIT_S, 'sh', '-c', BUSY]);
    },
    niceness: 15,
  }),
];
