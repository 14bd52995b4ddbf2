/** Its own pages bring the user in a block of JSON. People can give its id to what they write into a post, but no post has a script. */
export const readUserId = (): unknown =>
  JSON.parse(document.querySelector('script#user-metadata')!.textContent!).user_id;
