/** The version of the API. It appears in the OpenAPI document, in `/health` and at the top of CHANGELOG.md. */
export const API_VERSION = '1.9.0.0';
