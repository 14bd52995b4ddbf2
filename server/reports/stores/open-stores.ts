import type { Database } from '../../../db/client';
import type { Env } from '../../platform/env';
import { createPostgresStore } from './postgres-store';
import { createS3Store } from './s3-store';
import type { ReportStores } from './store';

/** Opens the stores that the settings name. Postgres always has the reports that were made before another store was set. */
export function openReportStores(db: Database, env: Env): ReportStores {
  const postgres = createPostgresStore(db);
  const { REPORT_STORE: place, REPORT_S3_REGION: region, REPORT_S3_ENDPOINT: endpoint } = env;
  if (!place) return { current: 'postgres', postgres, s3: null };
  const s3 = createS3Store({
    ...place,
    region,
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    accessKeyId: env.REPORT_S3_ACCESS_KEY_ID!,
    secretAccessKey: env.REPORT_S3_SECRET_ACCESS_KEY!,
  });
  return { current: 's3', postgres, s3 };
}
