// Codes of failures and warnings of assets.

/** `failure.code`. An operator's own encoder may report further codes. */
export const FAILURE_CODES = {
  size_mismatch: 'The stored size differs from `size_bytes`.',
  checksum_mismatch: 'The stored bytes do not match `checksum_sha256`.',
  type_mismatch: 'The bytes are not of the announced `mime_type`.',
  playlist: 'The file is a playlist that names other files.',
  not_media: 'The file cannot be read as media.',
  no_video_track: 'The file has no video track.',
  no_audio_track: 'The file has no audio track.',
  truncated: 'The end of the file is missing.',
  undecodable: 'More than half of the picture of the video cannot be decoded.',
  upload_expired: 'The upload was not completed in time.',
  upload_failed: 'The upload to the video provider failed.',
  import_refused: 'The import URL, or a redirect of it, leads to an address that imports may not reach.',
  import_failed: 'The file could not be read from the import URL.',
  import_timeout: 'The server of the import URL did not deliver the file in time.',
  import_too_large: 'The file at the import URL is larger than allowed.',
  adoption_failed: 'The file of the operator could not be adopted.',
  clip_source_deleted: 'The video was deleted before the clip was cut from it.',
  clip_failed: 'The clip could not be cut from its video.',
  clip_too_large: 'The clip is larger than allowed.',
  too_demanding: 'The file needs more memory, time or work than allowed.',
  unsupported_codec: 'The video uses a codec that is not supported.',
  picture_too_large: 'The image, or a frame of the video, has more pixels than allowed.',
  encode_failed: 'The video could not be encoded.',
  original_missing: 'The original is not stored any more.',
  timed_out: 'Encoding took too long.',
  out_of_memory: 'Encoding needed too much memory.',
  output_too_large: 'Encoding made more data than expected.',
  encoder_missing: 'ffmpeg is not installed, or could not be started.',
  encoder_crashed: 'The encoder crashed several times on this video.',
  encoder_refused: 'The external encoder refused the video.',
  encoder_silent: 'The external encoder stopped reporting on the video.',
  replacement_overtaken: 'Another attempt of the replaced asset began in the meantime.',
  cancelled: 'An operator cancelled the work on the file.',
  unsupported_size: 'The video provider does not accept pictures of this size.',
  unsupported_frame_rate: 'The video provider does not accept this frame rate.',
  too_short: 'The video is shorter than the video provider accepts.',
  too_long: 'The video is longer than allowed.',
  fetch_failed: 'The video provider could not fetch the file.',
  provider_unreachable: 'The video provider cannot be reached.',
  provider_timeout: 'The video provider did not respond in time.',
  provider_rate_limited: "The video provider's rate limit is reached.",
  provider_error: 'The video provider reports an error of its own.',
  provider_credentials: 'The video provider rejects the configured credentials.',
  provider_quota: 'The storage of the video provider is full.',
  provider_rejected: 'The video provider rejects the request.',
  provider_video_missing: 'The video provider does not have this video.',
  provider_unavailable:
    'No upload could be opened at the video provider. The timeline names the cause, for example ' +
    '`provider_unreachable`.',
} as const;
export type FailureCode = keyof typeof FAILURE_CODES;

/** Failures of a call to a provider. */
export type ProviderFailureCode = Exclude<Extract<FailureCode, `provider_${string}`>, 'provider_unavailable'>;

/** Unusual properties of a playable file. They stay as long as the file does. */
export const FILE_WARNING_CODES = {
  hdr: 'The video has a high dynamic range; the renditions in H.264 have a standard one.',
  rotated: 'The file tells players to turn or mirror the video; the renditions are stored upright.',
  variable_frame_rate: 'The frame rate varies; the renditions have a constant one.',
  low_frame_rate: 'The video has fewer than 10 frames per second.',
  high_frame_rate: 'The video has more than 60 frames per second; the renditions have fewer.',
  interlaced: 'The video is interlaced; the renditions are deinterlaced.',
  odd_dimensions: 'The width or the height is an odd number of pixels; those of the renditions are even.',
  edit_list: 'An edit list hides the beginning of the file; the renditions do not contain it.',
  no_audio: 'The file has no audio track.',
  multiple_audio_tracks: 'The file has several audio tracks; players offer them for choice.',
  surround_audio:
    'The audio has more than two channels; it is also mixed down to stereo, which players use first.',
  subtitles_dropped:
    'Some subtitles of the file do not become captions: pictures, or further ones in a language.',
  subtitles_forced:
    'Subtitles of the file are marked as forced; players show their captions only on request.',
  alpha_dropped: 'The picture has transparency, which the renditions do not have.',
  chapters_dropped: 'The file has more than 100 chapters; only the first ones are kept.',
  animation_dropped: 'The image is animated. Of its format, only the still picture is shown.',
} as const;
export type FileWarningCode = keyof typeof FILE_WARNING_CODES;

/** `warnings[].code`. An operator's own encoder may report further codes. */
export const WARNING_CODES = {
  ...FILE_WARNING_CODES,
  damaged:
    'Some pictures or some sound of the file cannot be decoded. The message tells how many, and where; the ' +
    'renditions show what the decoder could make of them.',
  audio_unsupported: 'The video plays without its sound, whose codec is not supported.',
  extra_codec_failed:
    'The renditions of an additional codec (`EXTRA_CODECS`, `HDR_CODECS`) failed; those in H.264 play.',
  surround_not_copied:
    'Surround sound in a codec of `AUDIO_PASSTHROUGH` plays in AAC only: it does not start and end with ' +
    'the picture, or cannot be copied.',
  audio_tracks_dropped:
    'Some audio tracks of the file are missing: they cannot be decoded, or the file has more than eight. ' +
    'An audio asset has one track.',
  subtitles_unreadable: 'The text subtitles of the file cannot be read, so they do not become captions.',
  encoding_incomplete: 'Some renditions failed; the others play.',
  playback_url_refused: 'A reported playback URL is not an absolute http or https URL.',
  original_missing:
    'The original is not stored any more: what was made from it plays, but it can neither be downloaded ' +
    'nor encoded again.',
  access_not_enforced:
    'The asset has access rules, but plays from other hosts, where the service cannot hold them.',
  playback_unconfigured:
    "The setting with the provider's host name is missing, so there are no playback URLs.",
} as const;

/** Renders codes with their meanings for a description. */
export const describeCodes = (codes: Readonly<Record<string, string>>): string =>
  Object.entries(codes)
    .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
    .join(' ');
