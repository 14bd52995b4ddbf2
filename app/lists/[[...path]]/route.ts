export { DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT } from '../../api-route';

export const maxDuration = 60;
