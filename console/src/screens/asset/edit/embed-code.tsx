// The HTML that shows the asset on another page.
import type { Asset, Playback } from '@mediary/client';
import { Alert, Button, Code, CopyButton, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { playbackQuery } from '../../../api/assets.ts';
import { Problem } from '../../../parts/problem.tsx';
import { Time } from '../../../parts/time.tsx';

export function EmbedCode({ asset }: { readonly asset: Asset }) {
  const { data: playback, error } = useQuery(playbackQuery(asset));
  if (error) return <Problem error={error} />;
  if (!playback) return <Skeleton h={80} />;
  const code = renderEmbed(asset, playback);
  if (code === undefined)
    return <Text size="sm">The page to embed needs HLS, which this asset does not have.</Text>;
  const { expires_at: expiresAt } = playback;
  return (
    <Stack gap="sm">
      {asset.visibility === 'private' && expiresAt !== null && (
        <Alert color="yellow">
          The asset is private: this code stops <Time at={expiresAt} />. Make the asset public, or let your
          back end ask for the playback URLs of each viewer.
        </Alert>
      )}
      <Code block tabIndex={0} className="wrapped-code">
        {code}
      </Code>
      <Group>
        <CopyButton value={code}>
          {({ copied, copy }) => <Button onClick={copy}>{copied ? 'Copied' : 'Copy the embed code'}</Button>}
        </CopyButton>
      </Group>
    </Stack>
  );
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

function renderEmbed({ title, filename, width, height }: Asset, playback: Playback): string | undefined {
  const name = escapeHtml(title ?? filename);
  const ratio = width && height ? `${width} / ${height}` : '16 / 9';
  if (playback.kind === 'image')
    return playback.image === null ? undefined : `<img src="${escapeHtml(playback.image)}" alt="${name}">`;
  if (playback.embed === null) return undefined;
  return (
    `<iframe src="${escapeHtml(playback.embed)}" title="${name}" allow="fullscreen; picture-in-picture"\n` +
    `  style="width: 100%; aspect-ratio: ${ratio}; border: 0"></iframe>`
  );
}
