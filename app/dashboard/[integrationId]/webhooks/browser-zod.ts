import { z } from 'zod';
import { wordIssue } from '../../../../contract/wording';

// Imported before all files with schemas: with the first object zod probes for `eval`, which the Content-Security-Policy refuses and
// browsers report, though zod catches it. `jitless` keeps it from that. Messages use the API's words.
if (typeof window !== 'undefined') z.config({ customError: wordIssue, jitless: true });
