// A text to copy: a command, a key, an id.
import { Button, Code, CopyButton, Group } from '@mantine/core';

type CopyProps = {
  readonly text: string;
  /** What it is, for screen readers. */
  readonly label: string;
};

export const CopyText = ({ text, label }: CopyProps) => (
  <Group gap="xs" align="flex-start">
    <Code block tabIndex={0} className="copy-text" aria-label={label} role="region">
      {text}
    </Code>
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button
          size="xs"
          variant="default"
          onClick={copy}
          aria-label={`${copied ? 'Copied' : 'Copy'} ${label}`}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  </Group>
);
