// Why an asset failed, and what its renditions do not keep.
import type { Asset } from '@mediary/client';
import { Alert, List, Text } from '@mantine/core';

export const AssetProblems = ({ asset: { failure, warnings } }: { readonly asset: Asset }) => (
  <>
    {failure && (
      <Alert color="red" title={`Failed: ${failure.code}`}>
        <Text size="sm" className="break-anywhere">
          {failure.message}{' '}
          {failure.retryable ? 'It can be tried again.' : 'Another upload of the same file would fail too.'}
        </Text>
      </Alert>
    )}
    {warnings.length > 0 && (
      <Alert color="yellow" title="Warnings">
        <List size="sm">
          {warnings.map(({ code, message }) => (
            <List.Item key={code}>{message}</List.Item>
          ))}
        </List>
      </Alert>
    )}
  </>
);
