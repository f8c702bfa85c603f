// The context of the lifecycle in tests.
import { contextOf } from '../platform/values/context.fixture.ts';
import { NOW } from './asset.fixture.ts';
import type { LifecycleContext } from './context.ts';

/** Objects do not wait for their removal. */
export const createLifecycleContext = (
  given: Parameters<typeof contextOf<LifecycleContext>>[0],
): LifecycleContext =>
  contextOf<LifecycleContext>({ settings: { purgeGraceDays: 0 }, now: () => NOW, ...given });
