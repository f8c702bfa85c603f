// The parts of the URL of an image: its path, and the parameters of a variant.

/** Without the fragment. */
export function splitImageUrl(src: string): { path: string; parameters: URLSearchParams } {
  const [path = '', query = ''] = src
    .split('#', 1)
    .join('')
    .split(/\?(.*)/s);
  return { path, parameters: new URLSearchParams(query) };
}

/** Sets the values that are there. */
export function setParameters(parameters: URLSearchParams, values: object): void {
  for (const [name, value] of Object.entries(values))
    if (value !== undefined) parameters.set(name, String(value));
}
