/** Its own pages bring the user in a block of JSON. */
export const readUserId = (): unknown => JSON.parse(document.querySelector('#user-metadata')!.textContent!).user_id;
