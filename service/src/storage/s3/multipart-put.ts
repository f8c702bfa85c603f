// A multipart upload of this process: sends a few parts at a time, and can be aborted.
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { ObjectKey } from '../object-key.ts';
import type { S3Connection } from './connection.ts';
import type { ObjectPart } from './parts.ts';

const PARTS_IN_FLIGHT = 2;

export type MultipartPut = {
  /**
   * Resolves when the part is sent or may be sent beside the next one. Throws the error of any earlier part.
   */
  add(part: ObjectPart): Promise<void>;
  /** The parts in their order, when the store has all of them. */
  partsStored(): Promise<readonly CompletedPart[]>;
  complete(): Promise<void>;
  /** Ends the requests that send parts. */
  cancel(): Promise<void>;
  abort(): Promise<void>;
};

/** An object that does not exist yet, and the metadata that it will have. */
export type NewObject = {
  readonly s3: S3Connection;
  readonly key: ObjectKey;
  readonly metadata: Readonly<Record<string, string>>;
};

export async function startMultipartPut({ s3, key, metadata }: NewObject): Promise<MultipartPut> {
  const command = new CreateMultipartUploadCommand({ ...s3.at(key), Metadata: metadata });
  const { UploadId } = await s3.run((options) => s3.client.send(command, options));
  return openMultipartPut(s3, { ...s3.at(key), UploadId });
}

export function openMultipartPut(s3: S3Connection, upload: UploadIds): MultipartPut {
  const aborting = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const stored: CompletedPart[] = [];

  async function send(part: ObjectPart): Promise<void> {
    try {
      stored.push(await sendPart(s3, upload, { part, signal: aborting.signal }));
    } finally {
      part.release();
    }
  }

  const inOrder = () => stored.toSorted((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
  const cancel = async () => {
    aborting.abort();
    await Promise.allSettled(inFlight);
  };
  return {
    async add(part) {
      const sending = send(part);
      inFlight.add(sending);
      // A failed part stays, so that the next wait throws its error.
      sending.then(
        () => inFlight.delete(sending),
        () => {},
      );
      if (inFlight.size >= PARTS_IN_FLIGHT) await Promise.race(inFlight);
    },
    partsStored: async () => {
      await Promise.all(inFlight);
      return inOrder();
    },
    complete: () => complete(s3, upload, inOrder()),
    cancel,
    async abort() {
      await cancel();
      const ending = s3.run((options) => s3.client.send(new AbortMultipartUploadCommand(upload), options));
      // When the store does not answer, its lifecycle rule removes the parts.
      await Promise.allSettled([ending]);
    },
  };
}

type UploadIds = {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
};

async function sendPart(
  s3: S3Connection,
  upload: UploadIds,
  { part: { number, bytes }, signal }: { readonly part: ObjectPart; readonly signal: AbortSignal },
): Promise<CompletedPart> {
  const command = new UploadPartCommand({
    ...upload,
    PartNumber: number,
    Body: bytes,
    ContentLength: bytes.byteLength,
  });
  const { ETag } = await s3.run((options) => s3.client.send(command, options), signal);
  return { PartNumber: number, ETag };
}

async function complete(s3: S3Connection, upload: UploadIds, Parts: CompletedPart[]): Promise<void> {
  const command = new CompleteMultipartUploadCommand({
    ...upload,
    MultipartUpload: { Parts },
    IfNoneMatch: '*',
  });
  await s3.run((options) => s3.client.send(command, options));
}
