// Assembles the packets of digital captions, and divides them among services (CTA-708-E, 5 and 6).

type DtvccPackets = {
  /** Two bytes of a packet, which may be its first. */
  readonly push: (seconds: number, isStart: boolean, bytes: Uint8Array) => void;
};

type OnBlock = (seconds: number, service: number, block: Uint8Array) => void;

const MAX_PACKET_BYTES = 128;
const EXTENDED_SERVICE = 7;

/** `onBlock` is called with the bytes of one service, whose number is 1–63. */
export function createDtvccPackets(onBlock: OnBlock): DtvccPackets {
  const packet = new Uint8Array(MAX_PACKET_BYTES);
  let [length, expected] = [0, 0];
  return {
    push: (seconds, isStart, bytes) => {
      if (isStart) {
        length = 0;
        expected = packetBytes(bytes[0] ?? 0);
      }
      if (length >= expected) return;
      packet.set(bytes.subarray(0, 2), length);
      length += 2;
      if (length >= expected) divideBlocks(seconds, packet.subarray(1, expected), onBlock);
    },
  };
}

/** All sizes are even, at most 128. */
const packetBytes = (header: number): number => ((header & 0x3f) === 0 ? 128 : (header & 0x3f) * 2);

function divideBlocks(seconds: number, data: Uint8Array, onBlock: OnBlock): void {
  let position = 0;
  while (position < data.length) {
    const header = data[position] ?? 0;
    const size = header & 0x1f;
    const isExtended = header >> 5 === EXTENDED_SERVICE && size > 0;
    const service = isExtended ? (data[position + 1] ?? 0) & 0x3f : header >> 5;
    const start = position + (isExtended ? 2 : 1);
    // A block of service 0 fills the rest of the packet.
    if (service === 0 || size === 0) return;
    onBlock(seconds, service, data.slice(start, start + size));
    position = start + size;
  }
}
