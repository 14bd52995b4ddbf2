const UTF_8 = new Set(['utf-8', '"utf-8"']);

/**
 * Whether a Content-Type header means JSON in UTF-8: `application/json`, with `charset=utf-8` at most once and no other
 * parameter. It is parsed instead of matched, so that the time grows with its length alone.
 */
export function isJsonType(contentType: string | null): boolean {
  const [type, ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  const given = parameters.filter((parameter) => parameter !== '');
  return type === 'application/json' && given.length <= 1 && given.every(isUtf8Charset);
}

function isUtf8Charset(parameter: string): boolean {
  const [name, value, ...rest] = parameter.split('=').map((part) => part.trim());
  return name === 'charset' && value !== undefined && UTF_8.has(value) && rest.length === 0;
}
