// If-Match holds a change to the version that the caller has seen, by version or ETag (contract B2).
import { expect, test } from 'vitest';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import { assertVersion } from './if-match.ts';

const asset = createVideo({ version: 7, revision: 9 });
const etagOf = () => '"r9-a1"';

test.each([undefined, '"7"', '*', '"6", "7"', '"6","7" ', ' * ', '"r9-a1"', 'W/"r9-a1"', '"r8", "r9-a1"'])(
  '%j allows the change',
  (ifMatch) => {
    expect(() => assertVersion(asset, { ifMatch, etagOf })).not.toThrow();
  },
);

test.each(['', '7', '"6"', '"8"', '"77"', 'W/"7"', '"6", "8"', '"7', '"r9"', '"r8-a1"', '"9"', 'r9-a1'])(
  '%j fails with the current version',
  (ifMatch) => {
    expect(() => assertVersion(asset, { ifMatch, etagOf })).toThrow(
      expect.objectContaining({
        code: 'PRECONDITION_FAILED',
        message: expect.stringMatching(/version/),
        details: { field: 'If-Match', version: 7 },
      }),
    );
  },
);
