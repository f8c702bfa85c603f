// The URL of an image in a size that pages may request without a signature.
import { Group, Select, Stack, Text } from '@mantine/core';
import { sizedImageUrl } from '@mediary/client/images';
import { useState } from 'react';
import { CopyText } from '../../../parts/copy-text.tsx';
import { Time } from '../../../parts/time.tsx';

const SIZES = [
  { label: 'Square, 256 × 256', size: { width: 256, height: 256, fit: 'cover' } },
  { label: 'Square, 640 × 640', size: { width: 640, height: 640, fit: 'cover' } },
  { label: 'Link preview, 1200 × 630', size: { width: 1200, height: 630, fit: 'cover' } },
  { label: 'Whole, 640 wide', size: { width: 640 } },
  { label: 'Whole, 1280 wide', size: { width: 1280 } },
] as const;

type SizedUrlProps = {
  readonly image: string;
  /** When the URL of a private image stops; null: never. */
  readonly expiresAt: string | null;
};

export function SizedUrl({ image, expiresAt }: SizedUrlProps) {
  const [label, setLabel] = useState<string>(SIZES[0].label);
  const { size } = SIZES.find((each) => each.label === label) ?? SIZES[0];
  return (
    <Stack gap="xs">
      <Group>
        <Select
          label="URL of a size"
          data={SIZES.map((each) => each.label)}
          value={label}
          allowDeselect={false}
          onChange={(chosen) => setLabel(chosen ?? label)}
        />
      </Group>
      {expiresAt !== null && (
        <Text size="sm" c="dimmed">
          The asset is private: the URL stops <Time at={expiresAt} />.
        </Text>
      )}
      <CopyText text={sizedImageUrl(image, size)} label="the URL" />
    </Stack>
  );
}
