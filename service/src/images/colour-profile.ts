// Copies the ICC profile of a HEIF file into a PNG, because libheif returns only pixels and phones do not use sRGB.
import { crc32, deflateSync } from 'node:zlib';

const MARK = 'colrprof';
const HEADER_BYTES = 128;

/** Returns the first complete profile; undefined if there is none. */
export function iccProfileOf(heif: Buffer): Uint8Array | undefined {
  const at = heif.indexOf(MARK, 4, 'latin1');
  if (at < 0) return undefined;
  const profile = heif.subarray(at + MARK.length, at - 4 + heif.readUInt32BE(at - 4));
  const isWhole =
    profile.length > HEADER_BYTES &&
    profile.readUInt32BE(0) === profile.length &&
    profile.toString('latin1', 36, 40) === 'acsp';
  return isWhole ? profile : undefined;
}

const AFTER_HEAD = 8 + 25;

export function withIccProfile(png: Buffer, profile: Uint8Array): Buffer {
  const content = Buffer.concat([Buffer.from('iCCPicc\0\0', 'latin1'), deflateSync(profile)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length - 4);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([png.subarray(0, AFTER_HEAD), length, content, sum, png.subarray(AFTER_HEAD)]);
}
