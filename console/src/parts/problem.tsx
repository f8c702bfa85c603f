// An error as the API tells it, with its request id.
import { MediaryError } from '@mediary/client';
import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';

type ProblemProps = { readonly error: unknown; readonly onRetry?: (() => void) | undefined };

export function Problem({ error, onRetry }: ProblemProps) {
  const { title, message, requestId } = describe(error);
  return (
    <Alert color="red" title={title} role="alert">
      <Stack gap="sm">
        <Text size="sm" className="break-anywhere">
          {message}
        </Text>
        <Group gap="xs">
          {onRetry && (
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          {requestId && <RequestId id={requestId} />}
        </Group>
      </Stack>
    </Alert>
  );
}

const RequestId = ({ id }: { readonly id: string }) => (
  <CopyButton value={id}>
    {({ copied, copy }) => (
      <Button size="xs" variant="subtle" color="gray" onClick={copy}>
        {copied ? 'Copied' : 'Copy request id'}&nbsp;<Code>{id.slice(-12)}</Code>
      </Button>
    )}
  </CopyButton>
);

type Described = {
  readonly title: string;
  readonly message: string;
  readonly requestId?: string | undefined;
};

export function describe(error: unknown): Described {
  if (error instanceof MediaryError)
    return {
      title: TITLES[error.status ?? 0] ?? 'The request failed',
      message: error.message,
      requestId: error.requestId,
    };
  return { title: 'Something went wrong', message: error instanceof Error ? error.message : String(error) };
}

const TITLES: Readonly<Record<number, string>> = {
  0: 'The service does not answer',
  400: 'The service cannot accept this',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Not possible in this state',
  412: 'Somebody changed it meanwhile',
  429: 'Too many requests',
  500: 'The service failed',
  503: 'The service is not available',
};
