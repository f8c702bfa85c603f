// Everything about an asset that people can change.
import type { Asset } from '@mediary/client';
import { Paper, Tabs, Title } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import type { ReactNode } from 'react';
import { AccessForm } from './access-form.tsx';
import { CaptionsEditor } from './captions-editor.tsx';
import { ChaptersEditor } from './chapters-editor.tsx';
import { ClipCutter } from './clip-cutter.tsx';
import { DetailsForm } from './details-form.tsx';
import { EmbedCode } from './embed-code.tsx';
import { FileReplacer } from './file-replacer.tsx';
import { FocalPointPicker } from './focal-point-picker.tsx';
import { PosterPicker } from './poster-picker.tsx';

export type EditorProps = { readonly asset: Asset; readonly session: ConsoleSession };

type Panel = { readonly name: string; readonly label: string; readonly content: ReactNode };

export function AssetEditor(props: EditorProps) {
  const panels = panelsOf(props);
  return (
    <Paper withBorder p="md" component="section">
      <Title order={2} size="h4" mb="xs">
        Edit
      </Title>
      <Tabs defaultValue="details" keepMounted={false}>
        <Tabs.List>
          {panels.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name} px={{ base: 7, xs: 'sm' }}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {panels.map(({ name, content }) => (
          <Tabs.Panel key={name} value={name} pt="md">
            {content}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Paper>
  );
}

/** Only what the service can do for this asset. */
function panelsOf(props: EditorProps): Panel[] {
  const {
    kind,
    provider,
    stream_status: status,
    playable_at: playableAt,
    duration_ms: duration,
  } = props.asset;
  const isVideo = kind === 'video';
  const isEncodedHere = provider === 'onprem';
  const isCut = isVideo && isEncodedHere && status === 'ready' && duration !== null;
  const canPlay = status === 'ready' || playableAt !== null;
  const panels: (Panel | false)[] = [
    { name: 'details', label: 'Details', content: <DetailsForm {...props} /> },
    { name: 'access', label: 'Access', content: <AccessForm {...props} /> },
    kind === 'image' &&
      status === 'ready' && { name: 'crop', label: 'Crop', content: <FocalPointPicker {...props} /> },
    isVideo &&
      isEncodedHere && { name: 'captions', label: 'Captions', content: <CaptionsEditor {...props} /> },
    isEncodedHere && { name: 'chapters', label: 'Chapters', content: <ChaptersEditor {...props} /> },
    isCut && { name: 'poster', label: 'Poster', content: <PosterPicker {...props} duration={duration} /> },
    isCut && { name: 'clip', label: 'Clip', content: <ClipCutter {...props} duration={duration} /> },
    canReplace(props.asset) && { name: 'file', label: 'File', content: <FileReplacer {...props} /> },
    canPlay && { name: 'embed', label: 'Embed', content: <EmbedCode asset={props.asset} /> },
  ];
  return panels.filter((panel) => panel !== false);
}

/** Not a video of a hosted provider, nor a replacement. */
const canReplace = ({ kind, provider, stream_status: status, version_of: replaced }: Asset): boolean =>
  (status === 'ready' || status === 'failed') && (kind === 'image' || provider === 'onprem') && !replaced;
