// Uploads images, videos and audio files, and says how many of the chosen files are none of them.
import { Text } from '@mantine/core';
import { findMimeType } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { type ReactNode, useState } from 'react';
import { addUploads, type UploadSettings } from '../../api/uploads.ts';
import { formatCountOf } from '../../parts/format.ts';

type MediaFiles = {
  readonly add: (files: readonly File[]) => void;
  readonly notice: ReactNode;
};

export function useMediaFiles(session: ConsoleSession, settings?: UploadSettings): MediaFiles {
  const [leftOut, setLeftOut] = useState(0);
  const add = (files: readonly File[]): void => {
    const media = files.filter(isMedia);
    setLeftOut(files.length - media.length);
    addUploads(session, media, settings);
  };
  const notice = leftOut > 0 && (
    <Text size="sm" role="status">
      {formatCountOf(leftOut, 'file was', 'files were')} left out: neither image, video nor audio.
    </Text>
  );
  return { add, notice };
}

/** Folders contain other files too. Some systems do not know the types of newer formats. */
const isMedia = ({ type, name }: File): boolean =>
  /^(?:image|video|audio)\//.test(type || (findMimeType(name) ?? ''));
