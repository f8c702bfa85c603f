// Rules for the focal point that a caller chooses for an image (contract B11).
import type { FocalPoint } from '@mediary/contract/schemas/common';
import { badRequest } from '../platform/http/errors.ts';
import type { Asset } from './asset.ts';

/** Throws BAD_REQUEST with the field. Null, the center, is valid for every asset. */
export function assertFocalPoint({ kind }: Pick<Asset, 'kind'>, point: FocalPoint | null | undefined): void {
  if (point && kind !== 'image')
    throw badRequest(`focal_point can be set only for images, and this asset is a ${kind}`, {
      field: 'focal_point',
    });
}

/** Thousandths bound the number of different crops. Drops unknown members. */
export const roundFocalPoint = ({ x, y }: FocalPoint): FocalPoint => ({ x: roundPart(x), y: roundPart(y) });

const roundPart = (part: number): number => Math.round(1000 * part) / 1000;
