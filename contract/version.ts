/** The version of the API: in the document, in `/health` and at the top of CHANGELOG.md. */
export const API_VERSION = '1.5.0.0';
