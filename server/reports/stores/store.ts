/** Which report of which tenant. */
export interface ReportKey {
  integrationId: string;
  reportId: string;
}

/** Keeps the files of reports, as parts of bounded size. A part is written once, under a key that no other part has. */
export interface ReportStore {
  /** Rejects unless all of it is stored. */
  write(report: ReportKey, part: string, content: Buffer): Promise<void>;
  /** Reads a part in short pieces. Rejects with LostPartError if it is gone. */
  read(report: ReportKey, part: { key: string; size: number }): AsyncIterable<Uint8Array>;
  /** Removes one part of a report, or all, also those that no row names any more. Removing twice is fine. */
  remove(report: ReportKey, part?: string): Promise<void>;
}

/** A part is no longer in its store as it was written, and will not be. */
export class LostPartError extends Error {}

export type StoreName = 'postgres' | 's3';
/** The stores of this process. A report stays in the store in which it was made. */
export type ReportStores = { current: StoreName; postgres: ReportStore; s3: ReportStore | null };
