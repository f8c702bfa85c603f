// The context of upkeep in tests.
import { NOW } from '../lifecycle/asset.fixture.ts';
import { contextOf } from '../platform/values/context.fixture.ts';
import type { UpkeepContext } from './context.ts';

export const createUpkeepContext = (given: Parameters<typeof contextOf<UpkeepContext>>[0]): UpkeepContext =>
  contextOf<UpkeepContext>({
    clocks: { now: () => NOW, databaseNow: async () => NOW },
    ...given,
  });
