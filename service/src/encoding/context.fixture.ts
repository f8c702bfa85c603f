// The context of encoding in tests.
import type { Asset } from '../assets/asset.ts';
import { NOW } from '../lifecycle/asset.fixture.ts';
import type { AssetWrite } from '../lifecycle/decisions/change.ts';
import { contextOf } from '../platform/values/context.fixture.ts';
import type { EncodingContext } from './context.ts';
import { DEFAULT_LADDER } from './plan/ladder/ladder.ts';

/** Videos are encoded in one piece, and have no extra files; logs are dropped. */
export const createEncodingContext = (
  given: Parameters<typeof contextOf<EncodingContext>>[0],
): EncodingContext =>
  contextOf<EncodingContext>({
    settings: { encodeChunkSeconds: 0, ladder: DEFAULT_LADDER, minFreeBytes: 0, videoExtras: [] },
    callback: { deliver: async () => ({ processed: true }) },
    log: { info: () => {}, warn: () => {} },
    now: () => NOW,
    ...given,
  });

/** `update` of the lifecycle, for the asset in `state`. */
export const updateOf =
  (
    state: { asset: Asset },
    onDecided: (decision: AssetWrite) => void = () => {},
  ): EncodingContext['lifecycle']['update'] =>
  async (_ref, decide) => {
    const decision = decide(state.asset, NOW);
    if (decision) onDecided(decision);
    state.asset = { ...state.asset, ...decision?.set };
    return { asset: state.asset, decision };
  };

type Line = { readonly facts: object; readonly message: string };

/** Collects the warnings. */
export function createTestLog() {
  const lines: Line[] = [];
  const warn = (facts: object, message = '') => void lines.push({ facts, message });
  return { lines, log: { info: () => {}, warn } };
}
