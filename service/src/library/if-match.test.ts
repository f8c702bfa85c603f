// If-Match holds a change to the version that the caller has seen (contract B2).
import { expect, test } from 'vitest';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import { assertVersion } from './if-match.ts';

const asset = createVideo({ version: 7 });

test.each([undefined, '"7"', '*', '"6", "7"', '"6","7" ', ' * '])('%j allows the change', (ifMatch) => {
  expect(() => assertVersion(asset, ifMatch)).not.toThrow();
});

test.each(['', '7', '"6"', '"8"', '"77"', 'W/"7"', '"6", "8"', '"7'])(
  '%j fails with the current version',
  (ifMatch) => {
    expect(() => assertVersion(asset, ifMatch)).toThrow(
      expect.objectContaining({
        code: 'PRECONDITION_FAILED',
        message: expect.stringMatching(/version/),
        details: { field: 'If-Match', version: 7 },
      }),
    );
  },
);
