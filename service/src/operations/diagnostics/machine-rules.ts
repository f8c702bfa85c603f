// Judges what this machine can decode and encode, and how untrusted files are confined.
import { type Finding, notChecked, ok, problem, warning } from '@mediary/checks/finding';

type Encoder = {
  readonly role: string;
  /** Undefined when there is no usable ffmpeg. */
  readonly version: string | undefined;
  readonly missing: string | undefined;
  readonly setting: string;
  /** The encoder in use. */
  readonly videoEncoder: string;
};

export function judgeEncoder({ role, version, missing, setting, videoEncoder }: Encoder): Finding {
  const check = 'encoder.ffmpeg';
  if (role === 'api')
    return notChecked(check, 'This process encodes nothing.', 'Workers say at their start what they lack.');
  if (missing !== undefined)
    return problem(check, {
      message: 'This process cannot encode videos: no usable ffmpeg.',
      fix:
        'Install ffmpeg 5.1 or newer with libx264, aac and the dash muxer, or set FFMPEG_PATH; the start ' +
        'message says what was tried.',
    });
  const details = { version: version ?? null, video_encoder: videoEncoder };
  if (setting !== 'software' && videoEncoder === 'x264')
    return warning(check, {
      message: `VIDEO_ENCODER is ${setting}, but no hardware encoder works here: videos are encoded by x264.`,
      fix: 'Look into the log of the start for the message of ffmpeg, or set VIDEO_ENCODER=software.',
      details,
    });
  return ok(check, `ffmpeg ${version ?? ''} has the encoders libx264 and aac and the muxer dash.`, details);
}

type Heif = { readonly isAllowed: boolean; readonly canDecode: boolean };

export function judgeHeif({ isAllowed, canDecode }: Heif): Finding {
  const check = 'images.heif';
  if (!isAllowed) return ok(check, 'HEIC and HEIF are not allowed by ALLOWED_MIME_TYPES.');
  return canDecode
    ? ok(check, 'HEIC and HEIF can be decoded.')
    : warning(check, {
        message: 'HEIC and HEIF images of phones cannot be decoded: their uploads are refused.',
        fix: 'Install the package libheif-js, or remove image/heic and image/heif from ALLOWED_MIME_TYPES.',
      });
}

type SandboxParts = {
  readonly protections: Readonly<Record<string, boolean>>;
  readonly missing: readonly string[];
  /** What gives the missing parts. */
  readonly remedies: readonly string[];
};

export function judgeSandbox({ protections, missing, remedies }: SandboxParts): Finding {
  const check = 'sandbox';
  const details = { protections };
  return missing.length === 0
    ? ok(check, 'Decoders of untrusted files run in the complete sandbox.', details)
    : warning(check, {
        message: `Decoders of untrusted files run without a part of the sandbox: ${missing.join(', ')}.`,
        fix:
          `What is missing needs: ${remedies.join('; ')}. ` +
          'SANDBOX=required makes it a condition of the start.',
        details,
      });
}
