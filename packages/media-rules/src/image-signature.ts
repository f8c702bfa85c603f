// What the signature of an image URL signs (contract B5). The service verifies it, and the SDK writes it.

/** Refused without a signature. */
export const SIGNED_ONLY_PARAMETERS = ['gravity', 'quality', 'blur', 'background', 'rotate', 'dpr'] as const;

/** In alphabetical order. */
const SIGNED_PARAMETERS = ['w', 'h', 'fit', 'format', ...SIGNED_ONLY_PARAMETERS].sort();

/** `0199…?fit=cover&h=315&w=600`: what the parameters of the URL of an asset ask for. */
export function imageTextToSign(assetId: string, parameters: URLSearchParams): string {
  const pairs = SIGNED_PARAMETERS.flatMap((name) => {
    const value = parameters.get(name);
    return value === null ? [] : [`${name}=${value}`];
  });
  return `${assetId}?${pairs.join('&')}`;
}
