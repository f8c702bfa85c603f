// Decodes and renders images with sharp in sandboxed processes, with a deadline per image.
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { readChunks } from '../platform/disk/open-file.ts';
import type { ChildPool, RunTask } from '../platform/process/child-pool.ts';
import { busy } from '../platform/http/errors.ts';
import type { ChildProgram, ChildRequest, HandledMessage } from '../platform/process/child.ts';
import type { ImageResult, ImageTask } from './sharp-image-processor.worker.ts';
import type { ExaminedImage, ImageFile, ImageProcessor, RenderedImage } from './image-processor.ts';

const PROGRAM: ChildProgram = {
  script: new URL('./sharp-image-processor.worker.ts', import.meta.url),
  // 512 MiB for the WebAssembly decoder of HEIF.
  flags: ['--max-old-space-size=256', '--wasm-max-mem-pages=8192'],
  // An idle Node process reserves a data segment of 600 MB; an image may use 1 GiB more.
  limits: { cpuSeconds: 600, fileBytes: 0, openFiles: 64, dataBytes: 1.6 * 1024 ** 3 },
};

type ImageLimits = {
  readonly maxPixels: number;
  readonly deadlineMs: number;
  /** Concurrent renderings of one asset. */
  readonly perAsset: number;
  /** Renderings of one asset that wait for a free process. */
  readonly maxWaiting: number;
  /** How long a rendering waits for a free process. */
  readonly waitMs: number;
};

const UNLIMITED = Number.POSITIVE_INFINITY;

/** Jobs and viewers have separate reserved processes, so that slow variants do not delay new uploads. */
export function openSharpImageProcessor(
  pool: ChildPool,
  { maxPixels, deadlineMs, perAsset, maxWaiting, waitMs }: ImageLimits,
): ImageProcessor {
  // The job queue already limits and schedules its tasks.
  const runOfJob = pool.addKind({
    program: PROGRAM,
    acquire: pool.addGroup({ perOwner: UNLIMITED, maxWaiting: UNLIMITED, waitMs: UNLIMITED }),
  });
  const runOfViewer = pool.addKind({
    program: PROGRAM,
    acquire: pool.addGroup({ perOwner: UNLIMITED, perItem: perAsset, maxWaiting, waitMs }),
  });
  const task = { maxPixels, deadlineMs };
  return {
    canDecodeHeif: isInstalled('libheif-js/wasm-bundle'),
    examine: (source) => processImage(runOfJob, { ...task, source, owner: '' }) as Promise<ExaminedImage>,
    render: (source, variant, { id: item, owner_user_id: owner }) =>
      processImage(variant.isImproved ? runOfJob : runOfViewer, {
        ...task,
        source,
        variant,
        owner,
        item,
      }) as Promise<RenderedImage>,
  };
}

type ProcessOptions = Omit<ImageTask, 'sizeBytes'> & {
  readonly source: ImageFile;
  readonly deadlineMs: number;
  readonly owner: string;
  readonly item?: string;
};

async function processImage(
  run: RunTask,
  { source, deadlineMs, owner, item, ...options }: ProcessOptions,
): Promise<ExaminedImage | RenderedImage> {
  const buildRequest = () => toRequest(source, options);
  const outcome = await run<ExaminedImage | RenderedImage>(
    { deadlineMs, buildRequest, onMessage },
    owner,
    item,
  );
  if ('result' in outcome) return outcome.result;
  // A job is retried, so a slow disk or machine must not cause a refusal; a viewer gets a substitute.
  const isJob = !options.variant || options.variant.isImproved;
  if (outcome.failed === 'starved' && isJob) throw busy();
  return { refused: 'too_demanding' };
}

const onMessage = (message: unknown): HandledMessage<ExaminedImage | RenderedImage> => message as ImageResult;

/** The file is read here, because the decoder process has no access to files. */
async function toRequest(source: ImageFile, options: Omit<ImageTask, 'sizeBytes'>): Promise<ChildRequest> {
  const path = typeof source === 'string' ? source : await source();
  const { size: sizeBytes } = await stat(path);
  const message: ImageTask = { ...options, sizeBytes };
  return { message, input: readChunks(path, sizeBytes) };
}

/** The HEIF decoder is optional because of its licence and patents. */
function isInstalled(module: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(module) !== '';
  } catch {
    return false; // The package is not installed.
  }
}
