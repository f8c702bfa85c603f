// What `media.inspect` returns, and its options.
import type { AssetKind } from '../api/enums.ts';
import type { ErrorReason, FailureCode, WarningCode } from '../api/errors.ts';

/** Limits of your service, where they differ from its defaults, or of an upload token. */
export type FileLimits = {
  /**
   * Allowed media types (`ALLOWED_MIME_TYPES`); `default` stands for those that a service allows by default,
   * which this member has where it is left out.
   */
  mimeTypes?: readonly string[] | undefined;
  /** Bytes of a file (`MAX_UPLOAD_BYTES`). Default 10 GiB. */
  maxBytes?: number | undefined;
  /** Seconds of a video (`MAX_VIDEO_DURATION_S`). Default 43 200, which is 12 hours. */
  maxDurationSeconds?: number | undefined;
  /** Pixels of all frames of an image (`MAX_IMAGE_PIXELS`). Default 110 000 000. */
  maxImagePixels?: number | undefined;
};

export type InspectOptions = {
  /** Default: the name of the `File`. It decides the media type where the file has none. */
  filename?: string | undefined;
  /** Media type that the upload will have. Default: that of the file, else of its name, else of its bytes. */
  mimeType?: string | undefined;
  limits?: FileLimits | undefined;
  /**
   * True: `placeholder` is computed where the browser can decode the file. Of an image this reads all bytes.
   * Default false.
   */
  placeholder?: boolean | undefined;
  signal?: AbortSignal | undefined;
};

/** What a file is. Null stands for what its first 4 MiB, its index and its end do not tell. */
export type FileInspection = {
  /**
   * By the bytes; where they may be video or audio, by the media type. Null: nothing that the service could
   * accept.
   */
  kind: AssetKind | null;
  /**
   * By the bytes. Images: `jpeg`, `png`, `webp`, `avif`, `heif`, `gif`. Videos, as `media.container` of an
   * asset: `mov` (MP4 and QuickTime), `matroska` (and WebM), `mpegts`, or an older format, which has no
   * further facts here: `avi`, `mpeg`, `flv`, `asf`, `ogg`, `mxf`. Audio: `mov`, `matroska`, `ogg`, `mp3`,
   * `aac`, `wav`, `flac`.
   */
  container: string | null;
  /** The media type that the refusals assume. Null: none was passed, and neither name nor bytes have one. */
  mime_type: string | null;
  /** Bytes. */
  size_bytes: number;
  /** Pixels, as shown: rotated, and with square pixels. */
  width: number | null;
  /** Pixels, as shown: rotated, and with square pixels. */
  height: number | null;
  /** Milliseconds. Null for images. */
  duration_ms: number | null;
  /** Degrees by which the stored picture is turned clockwise to be shown. */
  rotation: 0 | 90 | 180 | 270 | null;
  /** Whether the stored picture is mirrored to be shown, before it is turned. */
  is_mirrored: boolean | null;
  /** Whether the image has several frames. Null for videos. */
  is_animated: boolean | null;
  /** The first picture track of a video. Null for images. */
  video: InspectedVideo | null;
  /** The audio tracks of a video or audio file, in the order of the file. */
  audio: InspectedAudio[];
  /** A ThumbHash in Base64, of the image or of the first frame. Null unless `placeholder` is set. */
  placeholder: string | null;
  /** What the asset would warn about. The service may find more when it reads the whole file. */
  warnings: { code: WarningCode; message: string }[];
  /** Why the service would not accept the file. The service may find more when it decodes the file. */
  refusals: FileRefusal[];
  /**
   * False: more than 4 MiB would have to be read. The facts that this concerns are null, and nothing was
   * refused for them.
   */
  is_complete: boolean;
};

export type InspectedVideo = {
  /** With the name of ffmpeg: `h264`, `hevc`, `vp8`, `vp9`, `av1`, …. Null: another one. */
  codec: string | null;
  /** Average frames per second. */
  fps: number | null;
  /** Whether the transfer function is PQ or HLG. */
  hdr: boolean | null;
};

export type InspectedAudio = {
  /** With the name of ffmpeg: `aac`, `opus`, `mp3`, …. Null: another one. */
  codec: string | null;
  channels: number | null;
  /** Samples per second. */
  sample_rate_hz: number | null;
  /** ISO 639-2, such as `eng`. Null: the file names none. */
  language: string | null;
};

/** Has the code with which the service would refuse the request or the bytes. */
export type FileRefusal = {
  code: Extract<ErrorReason, 'unsupported_value' | 'size_above_limit'> | FailureCode;
  /** A sentence for people. */
  message: string;
  /** The member of the upload request that is refused; undefined if the bytes are. */
  field?: 'mime_type' | 'size_bytes' | undefined;
  /** What the limit is: bytes, seconds or pixels. */
  limit?: number | undefined;
  /** What is allowed. */
  allowed?: readonly string[] | undefined;
};
