import type { Database } from '../../../db/client';
import { LostPartError, type ReportStore } from './store';

/** A row is compressed and read as a whole, so it is short. */
const CHUNK_BYTES = 256 * 1024;

/** Keeps files as rows of our own database. They need no further service, and are in its backups. */
export function createPostgresStore(db: Database): ReportStore {
  return {
    async write({ integrationId, reportId }, part, content) {
      for (let number = 0; number * CHUNK_BYTES < content.length; number++) {
        const chunk = content.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES);
        await db.query(INSERT, [integrationId, reportId, part, number, chunk]);
      }
    },
    async *read({ integrationId, reportId }, { key, size }) {
      for (let number = 0; number * CHUNK_BYTES < size; number++) {
        const [row] = await db.query<{ content: Buffer }>(READ, [integrationId, reportId, key, number]);
        if (!row) throw new LostPartError(`a part of the report ${reportId} is gone`);
        yield row.content;
      }
    },
    async remove({ integrationId, reportId }, part) {
      await db.query(REMOVE, [integrationId, reportId, part ?? null]);
    },
  };
}

// The foreign key refuses chunks of a report that was deleted meanwhile.
const INSERT = `
  insert into report_chunks (integration_id, report_id, part, number, content) values ($1, $2, $3, $4::int, $5::bytea)`;
const READ = `
  select content from report_chunks where integration_id = $1 and report_id = $2 and part = $3 and number = $4::int`;
const REMOVE = `
  delete from report_chunks where integration_id = $1 and report_id = $2 and ($3::text is null or part = $3)`;
