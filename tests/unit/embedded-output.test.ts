import { expect, it } from 'vitest';
import { readComplaint } from '../../db/embedded-output';

const DISK_FULL = `2026-01-31 09:30:00.134 UTC [29283] LOG:  redo done at 0/2FFFFB8
2026-01-31 09:30:00.172 UTC [29284] FATAL:  the database system is not yet accepting connections
2026-01-31 09:30:00.172 UTC [29284] DETAIL:  Consistent recovery state has not been yet reached.
2026-01-31 09:30:00.238 UTC [29283] FATAL:  could not write to file "pg_wal/xlogtemp.29283": No space left on device
2026-01-31 09:30:00.239 UTC [29285] FATAL:  the database system is not yet accepting connections
2026-01-31 09:30:00.239 UTC [29285] DETAIL:  Consistent recovery state has not been yet reached.
2026-01-31 09:30:00.240 UTC [29286] WARNING:  terminating connection because of crash of another server process
2026-01-31 09:30:00.240 UTC [29286] DETAIL:  The postmaster has commanded this server process to roll back.
2026-01-31 09:30:00.240 UTC [29286] HINT:  In a moment you should be able to reconnect.
2026-01-31 09:30:00.241 UTC [29277] LOG:  startup process (PID 29283) exited with exit code 1
`;
const DISK_FULL_AT_FIRST_START = `2026-01-31 09:30:00.706 UTC [2232] FATAL:  could not extend file "base/1/2691": No space left on device
2026-01-31 09:30:00.706 UTC [2232] HINT:  Check free disk space.
2026-01-31 09:30:00.706 UTC [2232] PANIC:  cannot abort transaction 1, it was already committed
Aborted
child process exited with exit code 134
initdb: removing data directory "/data/postgres.init-1"
`;
const OTHER_VERSION = `2026-01-31 09:30:00.134 UTC [7] FATAL:  database files are incompatible with server
2026-01-31 09:30:00.134 UTC [7] DETAIL:  The data directory was initialized by PostgreSQL version 17,
	which is not compatible with this version 18.
2026-01-31 09:30:00.134 UTC [7] HINT:  Read the release notes.
`;

it.each([
  [DISK_FULL, 'FATAL: could not write to file "pg_wal/xlogtemp.29283": No space left on device'],
  [
    DISK_FULL_AT_FIRST_START,
    'FATAL: could not extend file "base/1/2691": No space left on device HINT: Check free disk space.',
  ],
  [
    OTHER_VERSION,
    'FATAL: database files are incompatible with server DETAIL: The data directory was initialized by PostgreSQL version 17, HINT: Read the release notes.',
  ],
  ['2026-01-31 09:30:00.134 UTC [7] LOG:  database system is shut down\n\n', 'LOG:  database system is shut down'],
  ['initdb: error: no such user\ninitdb: removing data directory\n', 'initdb: error: no such user'],
  ['\n', 'unknown error'],
])('the reason in the output of Postgres is its last error alone', (output, reason) => {
  expect(readComplaint(output)).toBe(reason);
});
