// The same three steps as code of an application.
import { Button, Code, CopyButton, Group, Stack, Tabs, Title } from '@mantine/core';
import { SERVICE_URL } from '../../api/mediary.ts';

const CURL = `# 1. Ask for an upload URL
curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  ${SERVICE_URL}/api/v1/media/upload-url \\
  -d '{"filename":"sample.mp4","content_type":"video","mime_type":"video/mp4"}'

# 2. Send the bytes to data.upload_url
curl -T sample.mp4 -H 'Content-Type: video/mp4' "$UPLOAD_URL"

# 3. Complete it, then read its playback URLs
curl -s -X POST -H "Authorization: Bearer $TOKEN" ${SERVICE_URL}/api/v1/media/$ID/complete
curl -s -H "Authorization: Bearer $TOKEN" ${SERVICE_URL}/api/v1/media/$ID/playback`;

const TYPESCRIPT = `import { createMediary } from '@mediary/client';

const mediary = createMediary({ baseUrl: '${SERVICE_URL}', token });
const asset = await mediary.media.upload(input.files[0], {
  onProgress: ({ bytesSent, totalBytes }) => show(bytesSent / totalBytes),
});
await mediary.media.waitUntilReady(asset.id);
const { hls } = await mediary.media.playback(asset.id);`;

const TEXTS = { curl: CURL, typescript: TYPESCRIPT } as const;

export const CodeTour = () => (
  <Stack gap="xs" component="section" aria-label="The same as code">
    <Title order={2} size="h4">
      The same as code
    </Title>
    <Tabs defaultValue="curl">
      <Tabs.List>
        <Tabs.Tab value="curl">curl</Tabs.Tab>
        <Tabs.Tab value="typescript">TypeScript</Tabs.Tab>
      </Tabs.List>
      {(['curl', 'typescript'] as const).map((name) => (
        <Tabs.Panel key={name} value={name} pt="xs">
          <Code block tabIndex={0} className="wrapped-code">
            {TEXTS[name]}
          </Code>
          <Group justify="flex-end" mt="xs">
            <CopyButton value={TEXTS[name]}>
              {({ copied, copy }) => (
                <Button size="xs" variant="default" onClick={copy}>
                  {copied ? 'Copied' : 'Copy'}
                </Button>
              )}
            </CopyButton>
          </Group>
        </Tabs.Panel>
      ))}
    </Tabs>
  </Stack>
);
