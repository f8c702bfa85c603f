// How much of a limit is used.
import { Progress, Stack, Text } from '@mantine/core';

type MeterProps = {
  readonly used: number;
  /** Null: no limit, and no bar. */
  readonly max: number | null;
  readonly format: (amount: number) => string;
  readonly label: string;
};

const NEARLY_FULL_PERCENT = 90;

export function Meter({ used, max, format, label }: MeterProps) {
  if (max === null)
    return (
      <Text size="sm" span>
        {format(used)}
      </Text>
    );
  const percent = max === 0 ? 100 : Math.min(100, (100 * used) / max);
  return (
    <Stack gap={4}>
      <Text size="sm" span>
        {format(used)} of {format(max)}
      </Text>
      <Progress value={percent} color={percent >= NEARLY_FULL_PERCENT ? 'red' : 'sea'} aria-label={label} />
    </Stack>
  );
}
