// Opens the probe and the image processor in a pool of their own, with the default limits of the service.
import type { Config } from '../../../service/src/config.ts';
import type { ImageProcessor } from '../../../service/src/images/image-processor.ts';
import { openSharpImageProcessor } from '../../../service/src/images/sharp-image-processor.ts';
import { openMediabunnyProbe } from '../../../service/src/media/mediabunny-probe.ts';
import { DECODER_SETTINGS } from '../../../service/src/media/settings.ts';
import type { DefaultContainer } from '@mediary/media-rules/video-facts';
import type { AudioProbe, Probe } from '../../../service/src/media/probe.ts';
import { openChildPool } from '../../../service/src/platform/process/child-pool.ts';
import { createLimitsOnlySandbox } from '../../../service/src/platform/process/sandbox.ts';
import { createSettings } from '../../../service/src/platform/settings/read-settings.ts';

export type TestDecoders = {
  readonly probe: Probe<DefaultContainer> & AudioProbe;
  readonly imageProcessor: ImageProcessor;
  close(): Promise<void>;
};

type ChangedLimits = { readonly [Kind in 'probe' | 'image']?: Partial<Config['decoders'][Kind]> };

export function openTestDecoders(changed: ChangedLimits = {}): TestDecoders {
  const { processes = 8, idleMs, probe, image } = createSettings({}).read(DECODER_SETTINGS).decoders;
  const pool = openChildPool({ sandbox: createLimitsOnlySandbox(), processes, idleMs });
  const { deadlineMs, perOwner, waitMs } = { ...probe, ...changed.probe };
  const acquire = pool.addGroup({ perOwner, waitMs, maxWaiting: Number.POSITIVE_INFINITY });
  return {
    probe: openMediabunnyProbe(pool, { deadlineMs, acquire }),
    imageProcessor: openSharpImageProcessor(pool, { ...image, ...changed.image }),
    close: () => pool.close(),
  };
}
