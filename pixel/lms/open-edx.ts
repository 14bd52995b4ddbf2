import { findElement } from '../document';

/** Its own pages bring the user in a block of JSON. People can give its id to what they write into a post, but no post has a script. */
export const readUserId = (): unknown => JSON.parse(findElement('script#user-metadata')!.textContent!).user_id;
