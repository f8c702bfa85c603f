// Decodes the closed captions of a video: line 21 (CEA-608), or digital ones (CEA-708) where that has none.
import { type Triplets, TRIPLET_BYTES } from './caption-data.ts';
import { createDtvccPackets } from './dtvcc-packets.ts';
import { createDtvccService } from './dtvcc-service.ts';
import { createLine21Field } from './line21-field.ts';
import { createPresentationOrder } from './presentation-order.ts';

type CaptionPicture = { readonly seconds: number; readonly data: readonly Triplets[] };

/** `name`: that of the channel or service, such as `CC1`. */
export type ClosedCaptions = { readonly name: string; readonly vtt: string };

type ClosedCaptionDecoder = {
  /** Pictures in the order of the file. */
  readonly push: (picture: CaptionPicture) => void;
  /** Those with text, in order of their numbers. */
  readonly finish: (durationSeconds: number | null) => readonly ClosedCaptions[];
};

/** The services that receivers must offer (CTA-708-E, 4.5); memory is limited by it. */
const SERVICES = 6;

/** Never throws, whatever the bytes. */
export function createClosedCaptionDecoder(): ClosedCaptionDecoder {
  const fields = [createLine21Field(), createLine21Field()] as const;
  const services = Array.from({ length: SERVICES }, createDtvccService);
  const packets = createDtvccPackets((seconds, service, block) =>
    services[service - 1]?.push(seconds, block),
  );
  let latest = 0;
  const order = createPresentationOrder<CaptionPicture>(({ seconds, data }) => {
    latest = Math.max(latest, seconds);
    for (const triplets of data)
      readTriplets(triplets, ({ type, first, second }) => {
        if (type < 2) fields[type as 0 | 1].push(latest, first, second);
        else packets.push(latest, type === PACKET_START, Uint8Array.of(first, second));
      });
  });
  const channels = fields.flatMap((field) => field.channels);
  return {
    push: order.push,
    finish: (durationSeconds) => {
      order.flush();
      const finishAll = (all: readonly Decoded[], nameOf: (number: number) => string): ClosedCaptions[] =>
        all.flatMap((decoded, index) => {
          const vtt = decoded.finish(latest, durationSeconds);
          return vtt === undefined ? [] : [{ name: nameOf(index + 1), vtt }];
        });
      const analog = finishAll(channels, (number) => `CC${number}`);
      return analog.length > 0 ? analog : finishAll(services, (number) => `Service ${number}`);
    },
  };
}

type Decoded = Pick<ReturnType<typeof createDtvccService>, 'finish'>;

type Triplet = { readonly type: number; readonly first: number; readonly second: number };

const PACKET_START = 3;
const VALID_BIT = 0x04;

function readTriplets(triplets: Triplets, onTriplet: (triplet: Triplet) => void): void {
  for (let index = 0; index + TRIPLET_BYTES <= triplets.length; index += TRIPLET_BYTES) {
    const [head = 0, first = 0, second = 0] = triplets.subarray(index, index + TRIPLET_BYTES);
    if ((head & VALID_BIT) !== 0) onTriplet({ type: head & 0x03, first, second });
  }
}
