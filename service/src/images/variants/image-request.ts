// Decides what a request for an image may ask for: offered sizes, presets, or what is signed (contract B5).
import { IMAGE_CROPS } from '@mediary/contract/enums';
import { IMAGE_EDIT_PARAMETERS } from '@mediary/contract/image-edits';
import type { VariantWithTokenQuery } from '@mediary/contract/operations/images';
import { type OfferedSize, roundSize } from '@mediary/media-rules/image-size';
import { imageTextToSign, SIGNED_ONLY_PARAMETERS } from '@mediary/media-rules/image-signature';
import type { Secret } from '../../auth/secret.ts';
import { equalBytes, fromBase64url, hmacSha256 } from '../../auth/signature.ts';
import { deriveKey } from '../../auth/signed-token.ts';
import { badRequest, unauthorized } from '../../platform/http/errors.ts';
import type { ImagesContext } from '../context.ts';
import type { VariantQuery } from './image-variant.ts';

type ImageQuery = Omit<VariantWithTokenQuery, 'token' | 'v'>;

/** `search`: the query as it was sent, because the signature is that of its text. */
type ImageRequest = {
  readonly assetId: string;
  readonly query: ImageQuery;
  readonly search: URLSearchParams;
};

/** `redirectTo`: the offered size that is asked for instead. */
type AllowedRequest = { readonly redirectTo: OfferedSize } | { readonly query: VariantQuery };

/** Throws BAD_REQUEST for what is not offered, and UNAUTHORIZED where a valid signature is missing. */
export function allowRequest(
  { settings, urlSecrets }: Pick<ImagesContext, 'settings' | 'urlSecrets'>,
  { assetId, query, search }: ImageRequest,
): AllowedRequest {
  if (query.preset !== undefined) return { query: findPreset(settings.imagePresets, query) };
  if (query.s === undefined) return allowUnsigned(query);
  if (!isSigned(urlSecrets, imageTextToSign(assetId, search), query.s))
    throw unauthorized('s does not sign these parameters of this image', {
      reason: 'bad_signature',
      field: 's',
    });
  return { query };
}

function isSigned(secrets: readonly Secret[], text: string, signature: string): boolean {
  const given = fromBase64url(signature);
  return (
    given !== undefined &&
    secrets.some((root) => equalBytes(given, hmacSha256(imageSigningKey(root).key, text)))
  );
}

/** The key of back ends. */
export const imageSigningKey = (root: Secret): Secret => deriveKey(root, 'image');

const NOT_WITH_PRESET = [...Object.keys(IMAGE_EDIT_PARAMETERS), 's'].filter((name) => name !== 'format');

function findPreset(presets: ImagesContext['settings']['imagePresets'], query: ImageQuery): VariantQuery {
  const other = NOT_WITH_PRESET.find((name) => Object.hasOwn(query, name));
  if (other !== undefined)
    throw badRequest(`${other} cannot stand beside preset, which says it already`, {
      field: other,
      reason: 'not_with_preset',
    });
  const { preset = '', format, dpr } = query;
  const found = presets.get(preset);
  if (!found)
    throw badRequest(`The preset ${preset} is not offered`, {
      field: 'preset',
      reason: 'unsupported_value',
      allowed: [...presets.keys()],
    });
  return { ...found, ...(format && { format }), ...(dpr && { dpr }) };
}

function allowUnsigned(query: ImageQuery): AllowedRequest {
  const edit = SIGNED_ONLY_PARAMETERS.find((name) => query[name] !== undefined);
  if (edit) throw unsigned(edit);
  if (query.fit === 'fill') throw unsigned('fit');
  const size = roundSize(query);
  if ('reason' in size) throw unsupported(query, size);
  const isOffered = size.w === query.w && size.h === query.h;
  return isOffered ? { query } : { redirectTo: size };
}

const unsigned = (field: string) =>
  unauthorized(`${field} needs a signature (s) by the key of GET /api/v1/image-signing-key`, {
    reason: 'missing',
    field,
  });

type UnsupportedSize = Extract<ReturnType<typeof roundSize>, { readonly reason: string }>;

function unsupported(query: ImageQuery, { field, allowed, ...details }: UnsupportedSize) {
  const value = `w=${query.w ?? ''} h=${query.h ?? ''} fit=${query.fit ?? 'inside'}`;
  return badRequest(
    allowed === IMAGE_CROPS
      ? `The crop ${value} is not offered unsigned. Use w = h, or ${IMAGE_CROPS[1]}, or fit=inside.`
      : `${field} ${query[field]} is not offered unsigned. Use one of ${allowed.join(', ')}.`,
    { field, allowed, ...details },
  );
}
