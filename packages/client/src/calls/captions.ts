// Calls on the captions of a video.
import type { Caption, CaptionList, DeletedCaptions } from '../api/captions.ts';
import { assetPath, ownerOf } from '../media.ts';
import { createPagedList, type PagedList } from '../pages.ts';
import { assertSuccess } from '../response.ts';
import type { CallOptions, Transport } from '../transport.ts';

export type CaptionUpload = {
  /** WebVTT or SubRip, at most 1 MiB. */
  text: string | Blob;
  /** The name in the menu of players. Default: the name of the language. */
  label?: string | undefined;
  /** `captions` also describe sounds, for viewers who do not hear them. Default `subtitles`. */
  kind?: Caption['kind'] | undefined;
  /** True: players show them unless the viewer chose otherwise. */
  default?: boolean | undefined;
};

/** All captions of a video are on one page. */
export type CaptionPage = CaptionList;

export type CaptionCalls = {
  /**
   * Stores or replaces the captions of one language: BCP 47, such as `en` or `pt-BR`.
   * Errors: 400 `invalid_captions` with the `line`; 409 `not_encoded_here`, `too_many_captions`.
   *
   * @example await mediary.captions.put(asset.id, 'en', { text: input.files[0] });
   */
  put(id: string, language: string, captions: CaptionUpload, options?: CallOptions): Promise<Caption>;
  list(id: string, options?: CallOptions): PagedList<Caption, CaptionPage>;
  /** The stored WebVTT. */
  get(id: string, language: string, options?: CallOptions): Promise<string>;
  delete(id: string, language: string, options?: CallOptions): Promise<DeletedCaptions>;
};

const captionsPath = (id: string, language: string): string => {
  if (language === '') throw new TypeError('The language is empty.');
  return assetPath(id, `/captions/${encodeURIComponent(language)}`);
};

export const createCaptionCalls = (transport: Transport): CaptionCalls => ({
  put: (...[id, language, { text, ...described }, options]) =>
    transport.request({
      method: 'PUT',
      path: captionsPath(id, language),
      query: { ...described, ...ownerOf(transport, options) },
      text,
      options,
    }),
  list: (id, options) =>
    createPagedList(() => {
      const path = assetPath(id, '/captions');
      return transport.request<CaptionList>({ method: 'GET', path, options });
    }),
  get: async (id, language, options) => {
    const response = await transport.send({ method: 'GET', path: captionsPath(id, language), options });
    assertSuccess(response);
    return response.text;
  },
  delete: (id, language, options) =>
    transport.request({
      method: 'DELETE',
      path: captionsPath(id, language),
      query: ownerOf(transport, options),
      options,
      dataIfGone: { language, deleted: true } satisfies DeletedCaptions,
    }),
});
