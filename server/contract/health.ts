import { z } from 'zod';
import { wireInstant } from './fields';

/** The answer of `/health`, without an envelope (specification: Health). */
export const healthSchema = z
  .object({ status: z.string().meta({ example: 'ok' }), version: z.string(), timestamp: wireInstant() })
  .meta({ id: 'Health' });
