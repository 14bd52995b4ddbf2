import { z } from 'zod';
import { wireInstant, wireText } from './fields';
import { API_VERSION } from './version';

/** The answer of `/health`, without an envelope (specification: Health). */
export const healthSchema = z
  .object({ status: wireText('ok'), version: wireText(API_VERSION), timestamp: wireInstant() })
  .meta({ id: 'Health' });
