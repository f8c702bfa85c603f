'use client';

// Typed React components of the elements. Each loads its element in the browser.
import { createElement, type ReactElement } from 'react';

export type MediaryPlayerProps = { readonly asset: string };

export function MediaryPlayer(props: MediaryPlayerProps): ReactElement {
  return createElement('mediary-player', props);
}

export { MediaryUploader, type MediaryUploaderProps } from './uploader/react-uploader.ts';
