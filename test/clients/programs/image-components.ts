// Prints what the image components of two frameworks ask for: image-components.ts <URL of an image>
import { transformBaseImageProps } from '@unpic/core/base';
import { getImageProps } from 'next/image.js';
import { imageWidths, nextImageLoader, unpicTransformer } from '@mediary/client/images';

const picture = { src: process.argv[2] ?? '', alt: '', width: 640, height: 360 };
const next = getImageProps({ ...picture, sizes: '100vw', loader: nextImageLoader });
const unpic = transformBaseImageProps({
  ...picture,
  layout: 'constrained' as const,
  transformer: unpicTransformer,
  breakpoints: [...imageWidths],
});
console.log(JSON.stringify({ 'next/image': next.props.srcSet, Unpic: unpic.srcset }));
