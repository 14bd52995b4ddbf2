import { answer } from '../../reads';

export const GET = () => answer('{"status":"ok"}');
