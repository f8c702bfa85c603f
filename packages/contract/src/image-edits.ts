// The parameters of image variants, and the presets of operators that name them (contract B5).
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { IMAGE_CROPS, IMAGE_FORMATS, IMAGE_ROTATIONS, IMAGE_WIDTHS, SIGNED_IMAGE_FITS } from './enums.ts';

const LENGTHS =
  `Unsigned, one of \`${IMAGE_WIDTHS.join(', ')}\`; ` +
  `other values up to ${IMAGE_WIDTHS.at(-1)} redirect to the next larger one. Signed, any.`;
/** From 0 to 1. */
const PART = '(?:0(?:\\.\\d{1,3})?|1(?:\\.0{1,3})?)';
const length = { minimum: 1 };

/** What a variant is made by. A preset of the operator names the same parameters. */
export const IMAGE_EDIT_PARAMETERS = {
  w: Type.Optional(
    Type.Integer({ ...length, description: `Maximum width in pixels. ${LENGTHS}`, examples: [640] }),
  ),
  h: Type.Optional(Type.Integer({ ...length, description: `Maximum height in pixels. ${LENGTHS}` })),
  fit: Type.Optional(
    Type.Enum([...SIGNED_IMAGE_FITS], {
      description:
        '`inside` (default): fits into the box. `cover`: fills the box and crops. ' +
        '`contain`: fits and pads. `fill`: stretches, signed only. ' +
        `Unsigned, \`cover\` and \`contain\` need \`w\` and \`h\` in the ratio ${IMAGE_CROPS.join(' or ')}.`,
    }),
  ),
  format: Type.Optional(
    Type.Enum([...IMAGE_FORMATS], { description: 'Default: the best that `Accept` names.' }),
  ),
  gravity: Type.Optional(
    Type.String({
      pattern: `^(?:center|attention|${PART},${PART})$`,
      description:
        'Signed only. What `fit=cover` keeps; default: the `focal_point` of the asset. The `center`, the ' +
        'part that draws `attention` (contrast, saturation, skin), or a point. A point is given as parts ' +
        'of width and height from the top left, such as `0.5,0.25`. Of an animation, `attention` keeps ' +
        'the center.',
    }),
  ),
  quality: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Signed only. Quality of AVIF, WebP and JPEG. Default: 50, 78 and 80.',
    }),
  ),
  blur: Type.Optional(
    Type.Number({
      minimum: 0.3,
      maximum: 100,
      description: 'Signed only. Standard deviation of a Gaussian blur, in pixels of the variant.',
    }),
  ),
  background: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{6}$',
      description:
        'Signed only. Colour behind transparent pixels and of the margins of `fit=contain`, as RRGGBB.',
    }),
  ),
  rotate: Type.Optional(
    Type.Integer({
      enum: [...IMAGE_ROTATIONS],
      description: 'Signed only. Clockwise, in degrees. `w`, `h` and `gravity` are those of the result.',
    }),
  ),
};

const Edits = Type.Object(IMAGE_EDIT_PARAMETERS, { additionalProperties: false });
type ImageEditQuery = Static<typeof Edits>;

type ReadEdits = { readonly edits: ImageEditQuery } | { readonly problem: string };

/** Its result reads parameters as in `w=1600&h=600&fit=cover`, or tells in words what is wrong with them. */
export function createImageEditReader(): (text: string) => ReadEdits {
  const validator = Compile(Edits);
  const names = Object.keys(IMAGE_EDIT_PARAMETERS);
  return (text) => {
    const given = [...new URLSearchParams(text)];
    const unknown = given.find(([name]) => !names.includes(name));
    if (unknown) return { problem: `${unknown[0]} is not one of ${names.join(', ')}` };
    const edits = Object.fromEntries(given.map(([name, value]) => [name, toValue(name, value)]));
    if (validator.Check(edits)) return { edits };
    const [error] = validator.Errors(edits);
    return { problem: `${error?.instancePath.slice(1)} ${error?.message}` };
  };
}

const toValue = (name: string, text: string): string | number => {
  const { type } = IMAGE_EDIT_PARAMETERS[name as keyof typeof IMAGE_EDIT_PARAMETERS] as { type?: string };
  return (type === 'integer' || type === 'number') && text.trim() !== '' ? Number(text) : text;
};
